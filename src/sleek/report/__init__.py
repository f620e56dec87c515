"""What people are shown of a model and of its answers: words, numbers and pictures, whoever prints them.

Here: errors in words (`expected`, `scores`), units in words (`unit_words`), pictures (`…_plots`). Not here:
reading, fitting, terminals and options.
"""
