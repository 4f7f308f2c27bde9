"""Which neurons know a task: rankings, smallest sets, scores by number of neurons, clusters, what tasks share."""
