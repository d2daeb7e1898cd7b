(** What the theorems rest on beside Coq's logic: the axioms of Coq's classical real numbers. The build compares this with
    assumptions.txt. *)

From Alphalift Require Import Main.

Definition theorems := (accepted, drawn).
Print Assumptions theorems.
