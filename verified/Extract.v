(** The program, extracted to OCaml: integers are zarith's (as Coq's own ExtrOcamlZBigInt and ExtrOcamlNatBigInt have it,
    and here the length of an integer in bits and its square root), and [remembered] keeps a table. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From Alphalift Require Import Checker.

Extract Constant BinPos.Pos.size => "Trusted.size".
Extract Constant BinInt.Z.sqrtrem => "Trusted.root".
Extract Constant remembered => "Trusted.remembered".

(* Real numbers occur in the types of Interval's modules, and are never computed with. *)
Extract Constant ClassicalDedekindReals.sig_forall_dec => "(fun _ -> assert false)".

Set Warnings "-extraction-opaque-accessed".
Extraction "build/proven.ml" accepts well_formed promise_holds unseen_holds utility_holds optimum_holds.
