(** What the theorem rests on beside Coq's logic: the axioms of Coq's classical real numbers. The build compares this with
    assumptions.txt. *)

From Alphalift Require Import Main.

Print Assumptions accepted.
