(** Two secrets: h(V) - u.V is least at single symbols and at pairs of symbols that are mixed to an end (docs/theory.md,
    step 9). [d] are the symbols' deviations; the mean of d lies between the ends. *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums Entropy Powers.
Open Scope R_scope.

(** H(V) - u.V of two symbols, a the share of the second. *)
Definition mixed (u_x u_y a : R) : R := phi a + phi (1 - a) - (1 - a) * u_x - a * u_y.

(** It is concave in the share. *)
Lemma mixed_least u_x u_y a0 a a1 :
  0 <= a0 <= a -> a <= a1 <= 1 -> Rmin (mixed u_x u_y a0) (mixed u_x u_y a1) <= mixed u_x u_y a.
Proof.
  intros [a0_nonneg below] [above a1_most].
  destruct (Rle_lt_or_eq_dec 0 a) as [positive|null]; [lra| |replace a0 with a by lra; apply Rmin_l].
  destruct (Rle_lt_or_eq_dec a 1) as [less|one]; [lra| |replace a1 with a by lra; apply Rmin_r].
  set (slope := - ln a + ln (1 - a) + u_x - u_y).
  assert (tangent : forall b, 0 <= b <= 1 -> mixed u_x u_y b <= mixed u_x u_y a + (b - a) * slope).
  { intros b [b_nonneg b_most]. pose proof (phi_tangent b a b_nonneg positive) as first.
    pose proof (phi_tangent (1 - b) (1 - a) ltac:(lra) ltac:(lra)) as second. unfold mixed, slope. lra. }
  destruct (Rle_lt_dec 0 slope) as [rises|falls].
  - eapply Rle_trans; [apply Rmin_l|]. eapply Rle_trans; [apply tangent; lra|]. nra.
  - eapply Rle_trans; [apply Rmin_r|]. eapply Rle_trans; [apply tangent; lra|]. nra.
Qed.

Lemma two_terms n V x y :
  (forall z, (z < n)%nat -> 0 <= V z) -> (x < n)%nat -> (y < n)%nat -> x <> y -> V x + V y <= sum n V.
Proof.
  intros signs x_in y_in other.
  pose proof (sum_term n (fun z => if Nat.eqb z x then 0 else V z) y y_in) as below. simpl in below.
  rewrite sum_replace in below by assumption. destruct (Nat.eqb_spec y x); [lia|].
  enough (V y <= sum n V - V x + 0) by lra. apply below. intros z z_in. destruct (Nat.eqb z x); [lra | auto].
Qed.

Section Pairs.
Variables (n : nat) (d u : nat -> R) (m low high : R).

Definition share (x y : nat) (e : R) : R := (e - d x) / (d y - d x).

Hypothesis singles : forall x, (x < n)%nat -> low <= d x <= high -> m <= - u x.
Hypothesis pairs : forall e x y, e = low \/ e = high -> (x < n)%nat -> (y < n)%nat -> d x < e < d y ->
  m <= mixed (u x) (u y) (share x y e).

(** A pair that is mixed to a place between the ends lies between two such. *)
Lemma pair_between x y place :
  (x < n)%nat -> (y < n)%nat -> low <= place <= high -> d x < place < d y -> m <= mixed (u x) (u y) (share x y place).
Proof.
  intros x_in y_in [above below] [left right].
  assert (wide : 0 < / (d y - d x)) by (apply Rinv_0_lt_compat; lra).
  assert (order : forall e e', e <= e' -> share x y e <= share x y e')
    by (intros e e' e_le; apply Rmult_le_compat_r; lra).
  assert (from_x : share x y (d x) = 0) by (unfold share; rewrite Rminus_diag_eq by reflexivity; lra).
  assert (to_y : share x y (d y) = 1) by (unfold share; field; lra).
  assert (first : exists a, 0 <= a <= share x y place /\ m <= mixed (u x) (u y) a).
  { destruct (Rlt_le_dec (d x) low) as [outside|inside].
    - exists (share x y low). split; [|apply pairs; auto; lra]. rewrite <- from_x. split; apply order; lra.
    - exists 0. split; [rewrite <- from_x; split; apply order; lra|].
      unfold mixed, phi. rewrite Rminus_0_r, ln_1. specialize (singles x x_in ltac:(lra)). lra. }
  assert (last : exists a, share x y place <= a <= 1 /\ m <= mixed (u x) (u y) a).
  { destruct (Rlt_le_dec high (d y)) as [outside|inside].
    - exists (share x y high). split; [|apply pairs; auto; lra]. rewrite <- to_y. split; apply order; lra.
    - exists 1. split; [rewrite <- to_y; split; apply order; lra|].
      unfold mixed, phi. replace (1 - 1) with 0 by lra. rewrite ln_1. specialize (singles y y_in ltac:(lra)). lra. }
  destruct first as (a0 & a0_in & first). destruct last as (a1 & a1_in & last).
  eapply Rle_trans; [|apply (mixed_least _ _ a0 _ a1); lra]. now apply Rmin_glb.
Qed.

Theorem least_of_pairs V :
  (forall x, (x < n)%nat -> 0 <= V x) -> sum n V = 1 -> low <= sum n (fun x => V x * d x) <= high ->
  m <= entropy n V - sum n (fun x => u x * V x).
Proof.
  intros signs total inside. set (place := sum n (fun x => V x * d x)) in *.
  set (rest := fun x => - ln (V x) - u x - m).
  enough (0 <= sum n (fun x => V x * rest x)) as bound.
  { replace (entropy n V - sum n (fun x => u x * V x)) with (sum n (fun x => V x * rest x) + m * sum n V); [rewrite total; lra|].
    unfold entropy. rewrite <- sum_scale, <- sum_plus, <- sum_minus. apply sum_ext. intros x _. unfold rest, phi. lra. }
  assert (most : forall x, (x < n)%nat -> V x <= 1) by (intros x x_in; rewrite <- total; now apply sum_term).
  assert (at_place : forall x, (x < n)%nat -> 0 < V x -> d x = place -> 0 <= rest x).
  { intros x x_in positive same. specialize (singles x x_in ltac:(lra)). specialize (most x x_in).
    pose proof (ln_below (V x) positive). unfold rest. lra. }
  assert (across : forall x y, (x < n)%nat -> (y < n)%nat -> 0 < V x -> 0 < V y -> d x < place < d y ->
    0 <= (d y - place) * rest x + (place - d x) * rest y).
  { intros x y x_in y_in x_pos y_pos sides. pose proof (pair_between x y place x_in y_in inside sides) as bound.
    set (a := share x y place) in *.
    assert (scaled : a * (d y - d x) = place - d x) by (unfold a, share; field; lra).
    assert (a_in : 0 <= a <= 1) by nra.
    pose proof (gibbs a (V y) ltac:(lra) y_pos) as of_y. pose proof (gibbs (1 - a) (V x) ltac:(lra) x_pos) as of_x.
    pose proof (two_terms n V x y signs x_in y_in ltac:(intros ->; lra)) as two. rewrite total in two.
    assert (line : 0 <= (1 - a) * rest x + a * rest y) by (unfold mixed, phi in bound; unfold rest; lra).
    apply (Rmult_le_compat_r (d y - d x)) in line; [|lra]. rewrite Rmult_0_l in line.
    replace (d y - place) with ((1 - a) * (d y - d x)) by lra. rewrite <- scaled. lra. }
  set (below := fun x => if Rlt_dec (d x) place then V x else 0).
  set (above := fun x => if Rlt_dec place (d x) then V x else 0).
  assert (below_signs : forall x, (x < n)%nat -> 0 <= below x).
  { intros x x_in. unfold below. destruct (Rlt_dec _ _); [auto | lra]. }
  assert (above_signs : forall x, (x < n)%nat -> 0 <= above x).
  { intros x x_in. unfold above. destruct (Rlt_dec _ _); [auto | lra]. }
  assert (parts : sum n (fun x => below x * rest x) + sum n (fun x => above x * rest x) <= sum n (fun x => V x * rest x)).
  { rewrite <- sum_plus. apply sum_le. intros x x_in. unfold below, above.
    destruct (Rlt_dec (d x) place), (Rlt_dec place (d x)); try lra.
    destruct (signs x x_in) as [positive|null]; [|rewrite <- null; lra].
    pose proof (at_place x x_in positive ltac:(lra)). assert (0 <= V x * rest x) by (apply Rmult_le_pos; lra). lra. }
  set (c := sum n (fun x => above x * (d x - place))).
  assert (balance : sum n (fun x => below x * (place - d x)) = c).
  { enough (c - sum n (fun x => below x * (place - d x)) = 0) by lra. unfold c. rewrite <- sum_minus.
    rewrite (sum_ext _ _ (fun x => V x * d x - place * V x)).
    - rewrite sum_minus, sum_scale, total. fold place. lra.
    - intros x _. unfold below, above. destruct (Rlt_dec (d x) place), (Rlt_dec place (d x)); try lra.
      replace (d x) with place by lra. lra. }
  assert (product : 0 <= sum n (fun x => below x * rest x) * c + sum n (fun x => above x * rest x) * c).
  { rewrite <- balance at 2. unfold c. rewrite (Rmult_comm (sum n (fun x => above x * rest x))).
    rewrite <- !sum_scale_r, <- sum_plus.
    apply sum_nonneg. intros x x_in. rewrite <- !sum_scale, <- sum_plus. apply sum_nonneg. intros y y_in.
    replace (below x * rest x * (above y * (d y - place)) + below x * (place - d x) * (above y * rest y))
      with (below x * above y * ((d y - place) * rest x + (place - d x) * rest y)) by lra.
    unfold below, above. destruct (Rlt_dec (d x) place) as [left|]; [|lra]. destruct (Rlt_dec place (d y)) as [right|]; [|lra].
    destruct (signs x x_in) as [x_pos|null]; [|rewrite <- null; lra].
    destruct (signs y y_in) as [y_pos|null]; [|rewrite <- null; lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; lra | now apply across]. }
  assert (c_nonneg : 0 <= c).
  { apply sum_nonneg. intros x x_in. unfold above. destruct (Rlt_dec place (d x)); [|lra].
    apply Rmult_le_pos; [auto | lra]. }
  destruct c_nonneg as [c_pos|c_null].
  - enough (0 <= sum n (fun x => below x * rest x) + sum n (fun x => above x * rest x)) by lra.
    apply (Rmult_le_reg_r c); [assumption|]. lra.
  - assert (none_above : forall x, (x < n)%nat -> above x = 0).
    { intros x x_in. pose proof (sum_null n (fun x => above x * (d x - place))) as each. simpl in each.
      assert (null : above x * (d x - place) = 0).
      { apply each; [|now symmetry | assumption]. intros z z_in. unfold above. destruct (Rlt_dec place (d z)); [|lra].
        apply Rmult_le_pos; [auto | lra]. }
      unfold above in *. destruct (Rlt_dec place (d x)); [nra | reflexivity]. }
    assert (none_below : forall x, (x < n)%nat -> below x = 0).
    { intros x x_in. pose proof (sum_null n (fun x => below x * (place - d x))) as each. simpl in each.
      assert (null : below x * (place - d x) = 0).
      { apply each; [|rewrite balance; now symmetry | assumption]. intros z z_in. unfold below.
        destruct (Rlt_dec (d z) place); [|lra]. apply Rmult_le_pos; [auto | lra]. }
      unfold below in *. destruct (Rlt_dec (d x) place); [nra | reflexivity]. }
    rewrite (sum_ext n (fun x => below x * rest x) (fun _ => 0)) in parts by (intros; rewrite none_below by assumption; lra).
    rewrite (sum_ext n (fun x => above x * rest x) (fun _ => 0)) in parts by (intros; rewrite none_above by assumption; lra).
    rewrite !sum_zero in parts. lra.
Qed.

End Pairs.
