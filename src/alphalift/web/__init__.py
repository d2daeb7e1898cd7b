"""`alphalift serve`: the local page. A small server on this machine alone, and worker processes that compute for it.

The server (`app`, behind `guard`) reads no table and solves nothing: it checks what it is asked, hands work to a `lane`, and answers
what a slider asks from the certified curve that came back (`live`). Workers (`work`) open tables, count, design, release and report with
the library's own functions. The browser's side is in `static`.
"""
