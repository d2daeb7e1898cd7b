(** Types: symbols whose columns and secrets whose rows are proportional count as one (docs/theory.md, step 5a). *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums Problem Entropy Duality Powers Support.
Open Scope R_scope.

(** The mass of what has the type t. *)
Definition collected (n : nat) (type : nat -> nat) (V : nat -> R) (t : nat) : R :=
  sum n (fun x => if Nat.eqb (type x) t then V x else 0).

Lemma sum_only k i a : (i < k)%nat -> sum k (fun t => if Nat.eqb i t then a t else 0) = a i.
Proof.
  induction k as [|k IH]; intros inside; [lia|]. simpl. destruct (Nat.eqb_spec i k) as [->|other].
  - rewrite (sum_ext k _ (fun _ => 0)), sum_zero; [lra|]. intros t t_in. destruct (Nat.eqb_spec k t); [lia | reflexivity].
  - rewrite IH by lia. lra.
Qed.

Lemma collected_sum n k type V g :
  (forall x, (x < n)%nat -> (type x < k)%nat) ->
  sum k (fun t => collected n type V t * g t) = sum n (fun x => V x * g (type x)).
Proof.
  intros types. unfold collected.
  rewrite (sum_ext k _ (fun t => sum n (fun x => if Nat.eqb (type x) t then V x * g t else 0))).
  - rewrite sum_swap. apply sum_ext. intros x x_in. exact (sum_only k (type x) (fun t => V x * g t) (types x x_in)).
  - intros t _. rewrite <- sum_scale_r. apply sum_ext. intros x _. destruct (Nat.eqb (type x) t); lra.
Qed.

Lemma collected_nonneg n type V t : (forall x, (x < n)%nat -> 0 <= V x) -> 0 <= collected n type V t.
Proof. intros signs. apply sum_nonneg. intros x x_in. destruct (Nat.eqb (type x) t); [auto | lra]. Qed.

Lemma collected_above n type V x :
  (forall x, (x < n)%nat -> 0 <= V x) -> (x < n)%nat -> V x <= collected n type V (type x).
Proof.
  intros signs x_in. unfold collected.
  pose proof (sum_term n (fun i => if Nat.eqb (type i) (type x) then V i else 0) x x_in) as below.
  simpl in below. rewrite Nat.eqb_refl in below. apply below. intros i i_in.
  destruct (Nat.eqb (type i) (type x)); [auto | lra].
Qed.

Lemma collected_member n type V t : 0 < collected n type V t -> exists x, (x < n)%nat /\ type x = t.
Proof.
  unfold collected. induction n as [|n IH]; simpl; [lra|]. intros above.
  destruct (Nat.eqb_spec (type n) t) as [same|other]; [exists n; split; [lia | assumption]|].
  destruct IH as (x & x_in & same); [lra|]. exists x. split; [lia | assumption].
Qed.

(** H(T) <= H(X). *)
Lemma entropy_collected n k type V :
  (forall x, (x < n)%nat -> (type x < k)%nat) -> (forall x, (x < n)%nat -> 0 <= V x) ->
  entropy k (collected n type V) <= entropy n V.
Proof.
  intros types signs. unfold entropy.
  rewrite (sum_ext k _ (fun t => collected n type V t * - ln (collected n type V t))) by (intros; unfold phi; lra).
  rewrite (collected_sum n k type V (fun t => - ln (collected n type V t))) by assumption.
  apply sum_le. intros x x_in. pose proof (collected_above n type V x signs x_in) as above. unfold phi.
  destruct (signs x x_in) as [positive|null]; [|rewrite <- null; lra].
  assert (ln (V x) <= ln (collected n type V (type x))).
  { destruct above as [less| <-]; [now apply Rlt_le, ln_increasing | lra]. }
  nra.
Qed.

Section Joints.
Variables (J J' : joint) (type group : nat -> nat).
Hypothesis joint : is_joint J.
Hypothesis joint' : is_joint J'.
Hypothesis types : forall x, (x < symbols J)%nat -> (type x < symbols J')%nat.
Hypothesis groups : forall s, (s < secrets J)%nat -> (group s < secrets J')%nat.
Hypothesis prior_is : forall g, (g < secrets J')%nat -> P_S J' g = collected (secrets J) group (P_S J) g.
Hypothesis lifts_are : forall s x, (s < secrets J)%nat -> (x < symbols J)%nat ->
  P_S_given J s x / P_S J s = P_S_given J' (group s) (type x) / P_S J' (group s).

Let merged (V : nat -> R) := collected (symbols J) type V.

Lemma merged_posterior V : is_posterior J V -> is_posterior J' (merged V).
Proof.
  intros [signs total]. split; [intros t _; now apply collected_nonneg|]. rewrite <- total.
  rewrite (sum_ext _ _ (fun t => merged V t * 1)) by (intros; lra).
  unfold merged. rewrite (collected_sum _ _ type V (fun _ => 1)) by assumption. apply sum_ext. intros; lra.
Qed.

Lemma merged_lift V s : (s < secrets J)%nat -> lift_of J V s = lift_of J' (merged V) (group s).
Proof.
  intros s_in. unfold lift_of, merged.
  rewrite (collected_sum _ _ type V (fun t => P_S_given J' (group s) t)) by assumption.
  unfold Rdiv. rewrite <- !sum_scale_r. apply sum_ext. intros x x_in. rewrite !Rmult_assoc. f_equal.
  now apply lifts_are.
Qed.

(** What a promise says depends on the values of lifts and their masses. *)
Lemma merged_allows q l l' :
  (forall s, (s < secrets J)%nat -> l s = l' (group s)) -> allows J q l -> allows J' q l'.
Proof.
  intros same.
  assert (means : forall F : R -> R,
    mean_over (secrets J') (P_S J') (fun g => F (l' g)) = mean_over (secrets J) (P_S J) (fun s => F (l s))).
  { intros F. unfold mean_over.
    rewrite (sum_ext (secrets J') _ (fun g => collected (secrets J) group (P_S J) g * F (l' g)))
      by (intros g g_in; now rewrite prior_is).
    rewrite (collected_sum _ _ group (P_S J) (fun g => F (l' g))) by assumption.
    apply sum_ext. intros s s_in. now rewrite same. }
  assert (members : forall g, (g < secrets J')%nat -> exists s, (s < secrets J)%nat /\ l' g = l s).
  { intros g g_in. destruct (collected_member (secrets J) group (P_S J) g) as (s & s_in & <-).
    - rewrite <- prior_is by assumption. now apply P_S_pos.
    - exists s. split; [assumption|]. now rewrite same. }
  unfold allows. induction q as [epsilon | alpha epsilon | lower upper | epsilon | epsilon | epsilon | epsilon
    | order epsilon | first IH second IH']; cbn [allows_over].
  - intros all g g_in _. destruct (members g g_in) as (s & s_in & ->). apply all; [assumption | now apply P_S_pos].
  - now rewrite (means (fun t => power t alpha)).
  - intros all g g_in _. destruct (members g g_in) as (s & s_in & ->). apply all; [assumption | now apply P_S_pos].
  - intros all g g' g_in g'_in _ _. destruct (members g g_in) as (s & s_in & ->).
    destruct (members g' g'_in) as (s' & s'_in & ->). apply all; try assumption; now apply P_S_pos.
  - now rewrite (means (fun t => Rabs (t - 1))).
  - now rewrite (means (fun t => (t - 1) ^ 2)).
  - now rewrite (means (fun t => t * ln t)).
  - now rewrite (means (fun t => power t order)).
  - intros [all all']. auto.
Qed.

(** What prices of types prove about types, they prove about symbols. *)
Theorem merged_least q u m :
  (forall V, is_posterior J' V -> allows J' q (lift_of J' V) -> m <= entropy (symbols J') V - dot J' u V) ->
  forall V, is_posterior J V -> allows J q (lift_of J V) ->
  m <= entropy (symbols J) V - dot J (fun x => u (type x)) V.
Proof.
  intros least V V_is allowed.
  pose proof (least (merged V) (merged_posterior V V_is)
    (merged_allows q _ _ (fun s s_in => merged_lift V s s_in) allowed)) as bound.
  pose proof (entropy_collected (symbols J) (symbols J') type V types (proj1 V_is)) as below.
  fold (merged V) in below.
  enough (dot J' u (merged V) = dot J (fun x => u (type x)) V) by lra.
  unfold dot. rewrite (sum_ext _ _ (fun t => merged V t * u t)) by (intros; lra).
  unfold merged. rewrite (collected_sum _ _ type V u) by assumption. apply sum_ext. intros; lra.
Qed.

End Joints.
