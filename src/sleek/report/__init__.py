"""What people are shown of a model and of its answers: words, numbers and pictures, whoever prints them.

Here: errors (`expected`, `scores`, `reliability`), models and units in words (`model_words`, `unit_rules`),
pictures (`…_plots`). Not here: reading, fitting, terminals and options.
"""
