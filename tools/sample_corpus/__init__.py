"""The grammar that generates the sample corpus: parallel documents in English and two invented languages.

``make sample`` writes the CoNLL-U files that lmkin ships; they come out the same, byte for byte. Nothing here is part
of the library.
"""
