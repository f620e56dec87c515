"""sleek against other methods: how accurate, how fast, how small; run as ``python -m benchmarks.NAME``.

accuracy → errors and sizes on many problems (rivals: who takes part; report: the tables); rotated →
sigmoidal units against networks; speed → times, against C and BLAS too (roofline); compare → times
of this tree against another commit; export → exported
models; losses → counts, amounts, quantiles. Problems and the store of finished results are those of
`studies`; `methods` makes what comes with good defaults. The rivals have an environment of their own:
``make accuracy`` and its like build it.
"""
