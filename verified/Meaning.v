(** What the integers and decimals of a file mean: the joint, the mechanism and the promise that the theorem is about. *)

From Coq Require Import Reals List ZArith.
From Alphalift Require Import Problem Checker.
Import ListNotations.
Open Scope R_scope.

Definition entry (table : list (list Z)) (i j : nat) : Z := nth j (nth i table []) 0%Z.

(** P(s, x) = n_sx / N. *)
Definition joint_of (f : file) : joint :=
  Joint (length (counts f)) (size f) (fun s x => IZR (entry (counts f) s x) / IZR (everybody f)).

(** P(y|x) = w_yx / 2^K. *)
Definition mechanism_of (f : file) : mechanism :=
  Mechanism (length (weights f)) (fun y x => IZR (weight (nth y (weights f) []) x) / IZR (two (bits f))).

(** An unseen value is answered with y with the probability u_y / 2^K. *)
Definition answers_of (f : file) (answers : list Z) (y : nat) : R := IZR (nth y answers 0%Z) / IZR (two (bits f)).

(** What a decimal means. *)
Definition number (d : decimal) : R := IZR (digits d) / IZR (scale d).

Fixpoint promise_of (region : stated) : promise :=
  match region with
  | StatedMaxLift epsilon => MaxLift (number epsilon)
  | StatedAlphaLift alpha epsilon => AlphaLift (number alpha) (number epsilon)
  | StatedLIP lower upper => LIP (number lower) (number upper)
  | StatedLDP epsilon => LDP (number epsilon)
  | StatedTotalVariation epsilon => TotalVariation (number epsilon)
  | StatedChiSquare epsilon => ChiSquare (number epsilon)
  | StatedKL epsilon => KL (number epsilon)
  | StatedRenyi order epsilon => Renyi (number order) (number epsilon)
  | StatedBoth first second => Both (promise_of first) (promise_of second)
  end.

(** A release draws with one of the 2^K words of K bits: it answers with the number of cumulated integers of the column
    that are at most the word (docs/release.md). *)
Definition words (K : N) : list Z := map Z.of_nat (seq 0 (Z.to_nat (two K))).

Fixpoint cumulated (passed : Z) (column : list Z) : list Z :=
  match column with [] => [] | w :: rest => (passed + w)%Z :: cumulated (passed + w)%Z rest end.

Definition answer (column : list Z) (word : Z) : nat := length (filter (fun edge => (edge <=? word)%Z) (cumulated 0 column)).

(** The share of all words that are answered with y. *)
Definition share_of_words (K : N) (column : list Z) (y : nat) : R :=
  IZR (Z.of_nat (length (filter (fun word => Nat.eqb (answer column word) y) (words K)))) / IZR (two K).

(** The integers by which a record with the symbol x is answered. *)
Definition column_of (f : file) (x : nat) : list Z := map (fun row => weight row x) (weights f).
