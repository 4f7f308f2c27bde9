"""Options are one definition: Python keywords, flags, plain data and the key of a run all come from it."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

import lmkin
from lmkin.analysis import Running, known_analyses
from lmkin.cli.flags import parameters, values_of
from lmkin.core import check_choices, from_mapping, key_of, option_fields, to_mapping
from lmkin.models import Loading, LoadingOptions, Reading, ReadingOptions

ANALYSES = known_analyses()


@pytest.fixture(params=list(ANALYSES), ids=str)
def analysis(request):
    return ANALYSES[request.param]


def keywords(analysis) -> dict[str, inspect.Parameter]:
    function = getattr(lmkin, analysis.function)
    return {
        n: p for n, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY
    }


def test_every_option_is_a_keyword_of_the_function_with_the_same_default(analysis):
    known = keywords(analysis)
    for field in option_fields(analysis.Options):
        assert field.name in known, f"lmkin.{analysis.function} has no keyword {field.name}"
        default = known[field.name].default
        assert default == field.default or (default in (None, ()) and not field.default), field.name


def test_every_keyword_of_the_function_is_an_option(analysis):
    options = {f.name for f in option_fields(analysis.Options)}
    shared = {f.name for kind in (Running, Reading, Loading) for f in option_fields(kind)}
    more = {"workspace", "progress"}
    assert (
        set(keywords(analysis)) - options - shared - more - OWN.get(analysis.name, set()) == set()
    )


OWN = {"attention": {"causal"}, "dependency": {"row_lengths", "limit"}}
"""Keywords for arrays of one's own, which no command and no study has."""


def test_functions_have_a_source_a_corpus_and_typed_keywords(analysis):
    signature = inspect.signature(getattr(lmkin, analysis.function))
    first, second, *rest = signature.parameters.values()
    assert (first.name, second.name, second.default) == ("source", "corpus", None)
    assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in rest)
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        if parameter.kind is parameter.VAR_KEYWORD:
            assert "Unpack[" in str(parameter.annotation)


def test_the_typed_dictionaries_have_the_fields_of_their_dataclasses():
    for kind, typed in ((Reading, ReadingOptions), (Loading, LoadingOptions)):
        assert {f.name for f in option_fields(kind)} == set(typed.__annotations__)


def test_options_are_frozen_and_every_field_has_help(analysis):
    options = analysis.Options()
    fields = option_fields(analysis.Options)
    assert {f.name for f in dataclasses.fields(options)} == {f.name for f in fields}
    for field in fields:
        assert len(field.about.help) > 10
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(options, field.name, None)


def test_options_come_from_plain_data_and_go_back(analysis):
    options = analysis.Options()
    assert to_mapping(options, changed=True) == {}
    assert from_mapping(analysis.Options, to_mapping(options)) == options
    analysis.check(options)


def test_an_unknown_name_is_refused_with_the_nearest(analysis):
    name = option_fields(analysis.Options)[0].name
    with pytest.raises(lmkin.LmkinError, match=f"Did you mean '{name}'"):
        from_mapping(analysis.Options, {name + "x": 1})


def test_the_key_of_a_run_holds_what_numbers_depend_on(analysis):
    known = key_of(analysis.Options())
    for field in option_fields(analysis.Options):
        assert (field.name in known) is field.about.numbers


def test_a_wrong_choice_is_refused_for_every_literal(analysis):
    choices = [f for f in option_fields(analysis.Options) if f.choices]
    assert choices
    for field in choices:
        wrong = dataclasses.replace(analysis.Options(), **{field.name: "nonsense"})
        with pytest.raises(lmkin.LmkinError, match="nonsense"):
            check_choices(wrong)


def test_flags_that_are_left_out_give_the_defaults(analysis):
    for options in (analysis.Options, Reading, Loading, Running):
        left_out = {p.name: p.default for p in parameters(options, "x")}
        assert options(**values_of(options, "x", left_out)) == options()


def test_flags_of_reading_are_named_like_its_keywords():
    for parameter in parameters(Reading, "x"):
        (about,) = parameter.annotation.__metadata__
        assert f"--{parameter.name.removeprefix('x__').replace('_', '-')}" in (
            about.default,
            *about.param_decls,
        )


def test_a_split_is_one_text():
    options = ANALYSES["dependency"].Options
    given = {"x__split": "train=0.8,test=0.2"}
    assert values_of(options, "x", given) == {"split": {"train": 0.8, "test": 0.2}}
