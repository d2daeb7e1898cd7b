(** What is claimed: joints, mechanisms, lifts, promises and mutual information, as the first paragraphs and steps 1, 2
    and 4 of docs/theory.md define them. Nothing is proven here; who wants to know what the theorem says reads this file
    and the end of Main.v. *)

From Coq Require Import Reals.
From Alphalift Require Import Sums.
Open Scope R_scope.

(** P(s, x) for s < secrets and x < symbols. *)
Record joint := Joint { secrets : nat; symbols : nat; mass : nat -> nat -> R }.

(** P(y|x) for y < outputs. *)
Record mechanism := Mechanism { outputs : nat; law : nat -> nat -> R }.

Definition P_S (J : joint) (s : nat) : R := sum (symbols J) (fun x => mass J s x).
Definition P_X (J : joint) (x : nat) : R := sum (secrets J) (fun s => mass J s x).

(** Nothing negative, every secret and every symbol with some mass, in all 1. *)
Definition is_joint (J : joint) : Prop :=
  (forall s x, (s < secrets J)%nat -> (x < symbols J)%nat -> 0 <= mass J s x) /\
  (forall s, (s < secrets J)%nat -> 0 < P_S J s) /\
  (forall x, (x < symbols J)%nat -> 0 < P_X J x) /\
  sum (secrets J) (P_S J) = 1.

Definition is_mechanism (J : joint) (W : mechanism) : Prop :=
  (forall y x, (y < outputs W)%nat -> (x < symbols J)%nat -> 0 <= law W y x) /\
  (forall x, (x < symbols J)%nat -> sum (outputs W) (fun y => law W y x) = 1).

Definition P_Y (J : joint) (W : mechanism) (y : nat) : R :=
  sum (symbols J) (fun x => law W y x * P_X J x).

(** P(s, y): Y depends on X alone. *)
Definition P_SY (J : joint) (W : mechanism) (s y : nat) : R :=
  sum (symbols J) (fun x => law W y x * mass J s x).

(** l(s, y) = P(s, y) / (P(s) P(y)). *)
Definition lift (J : joint) (W : mechanism) (y s : nat) : R := P_SY J W s y / (P_S J s * P_Y J W y).

(** E, the mean over P_S. *)
Definition mean (J : joint) (f : nat -> R) : R := sum (secrets J) (fun s => P_S J s * f s).

(** t^a for t >= 0; Coq's [Rpower] is 1 at t = 0. *)
Definition power (t a : R) : R := if Rle_dec t 0 then 0 else Rpower t a.

Inductive promise :=
| MaxLift (epsilon : R)
| AlphaLift (alpha epsilon : R).

(** Whether lifts l of one output keep a promise. *)
Definition allows (J : joint) (q : promise) (l : nat -> R) : Prop :=
  match q with
  | MaxLift epsilon => forall s, (s < secrets J)%nat -> l s <= exp epsilon
  | AlphaLift alpha epsilon => power (mean J (fun s => power (l s) alpha)) (1 / alpha) <= exp epsilon
  end.

(** Every output that occurs keeps the promise. *)
Definition keeps (J : joint) (q : promise) (W : mechanism) : Prop :=
  forall y, (y < outputs W)%nat -> 0 < P_Y J W y -> allows J q (lift J W y).

(** I(X;Y) in nats; Coq's ln is 0 at 0, so that what does not occur adds nothing. *)
Definition information (J : joint) (W : mechanism) : R :=
  sum (outputs W) (fun y => sum (symbols J) (fun x =>
    P_X J x * law W y x * ln (law W y x / P_Y J W y))).
