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

(** E, the mean over a prior of k secrets. *)
Definition mean_over (k : nat) (prior f : nat -> R) : R := sum k (fun s => prior s * f s).
Definition mean (J : joint) (f : nat -> R) : R := mean_over (secrets J) (P_S J) f.

(** t^a for t >= 0; Coq's [Rpower] is 1 at t = 0. *)
Definition power (t a : R) : R := if Rle_dec t 0 then 0 else Rpower t a.

Inductive promise :=
| MaxLift (epsilon : R)
| AlphaLift (alpha epsilon : R)
| LIP (lower upper : R)
| LDP (epsilon : R)
| TotalVariation (epsilon : R)
| ChiSquare (epsilon : R)
| KL (epsilon : R)
| Renyi (order epsilon : R)
| Both (first second : promise).

(** Whether lifts l of one output keep a promise: max l <= e^epsilon; (E l^alpha)^(1/alpha) <= e^epsilon; e^-lower <= l <=
    e^upper; l(s) <= e^epsilon l(s') for all s and s'; E |l - 1| / 2 <= epsilon; E (l - 1)^2 <= epsilon^2; E l log l <= epsilon;
    E l^order <= e^((order - 1) epsilon), that is log(E l^order) / (order - 1) <= epsilon; two promises. *)
Fixpoint allows_over (k : nat) (prior : nat -> R) (q : promise) (l : nat -> R) : Prop :=
  match q with
  | MaxLift epsilon => forall s, (s < k)%nat -> 0 < prior s -> l s <= exp epsilon
  | AlphaLift alpha epsilon => power (mean_over k prior (fun s => power (l s) alpha)) (1 / alpha) <= exp epsilon
  | LIP lower upper => forall s, (s < k)%nat -> 0 < prior s -> exp (- lower) <= l s <= exp upper
  | LDP epsilon => forall s s', (s < k)%nat -> (s' < k)%nat -> 0 < prior s -> 0 < prior s' -> l s <= exp epsilon * l s'
  | TotalVariation epsilon => mean_over k prior (fun s => Rabs (l s - 1)) / 2 <= epsilon
  | ChiSquare epsilon => mean_over k prior (fun s => (l s - 1) ^ 2) <= epsilon ^ 2
  | KL epsilon => mean_over k prior (fun s => l s * ln (l s)) <= epsilon
  | Renyi order epsilon => mean_over k prior (fun s => power (l s) order) <= exp ((order - 1) * epsilon)
  | Both first second => allows_over k prior first l /\ allows_over k prior second l
  end.
Definition allows (J : joint) (q : promise) (l : nat -> R) : Prop := allows_over (secrets J) (P_S J) q l.

(** Every output that occurs keeps the promise. *)
Definition keeps (J : joint) (q : promise) (W : mechanism) : Prop :=
  forall y, (y < outputs W)%nat -> 0 < P_Y J W y -> allows J q (lift J W y).

(** Every output keeps the promise whatever share of all records has values of X that are not among the symbols,
    however the secret is distributed among these (on k secrets, the joint's and perhaps others), if each of them is
    answered by a draw from U; priors and lifts are over all records (docs/theory.md, step 3). *)
Definition keeps_unseen (J : joint) (q : promise) (W : mechanism) (U : nat -> R) : Prop :=
  forall (share : R) (k : nat) (r : nat -> R),
    0 <= share <= 1 -> (secrets J <= k)%nat -> (forall s, (s < k)%nat -> 0 <= r s) -> sum k r = 1 ->
    let of_seen f s := if Nat.ltb s (secrets J) then f s else 0 in
    let prior s := (1 - share) * of_seen (P_S J) s + share * r s in
    let p_y y := (1 - share) * P_Y J W y + share * U y in
    let p_sy y s := (1 - share) * of_seen (fun s => P_SY J W s y) s + share * (r s * U y) in
    forall y, (y < outputs W)%nat -> 0 < p_y y -> allows_over k prior q (fun s => p_sy y s / (prior s * p_y y)).

(** I(X;Y) in nats; Coq's ln is 0 at 0, so that what does not occur adds nothing. *)
Definition information (J : joint) (W : mechanism) : R :=
  sum (outputs W) (fun y => sum (symbols J) (fun x =>
    P_X J x * law W y x * ln (law W y x / P_Y J W y))).
