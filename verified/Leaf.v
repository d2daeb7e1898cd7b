(** A leaf: what prices, w, nu and sigma prove about all posteriors of a box (docs/theory.md, step 7). *)

From Coq Require Import Reals Lra Lia.
From Alphalift Require Import Sums Problem Entropy Duality Support.
Open Scope R_scope.

Section Joint.
Variable J : joint.
Hypothesis J_is_joint : is_joint J.

Let n := symbols J.

(** c_x = u_x + nu - sum over s of w_s P(s|x). *)
Definition rate (u w : nat -> R) (nu : R) (x : nat) : R :=
  u x + nu - sum (secrets J) (fun s => w s * P_S_given J s x).

(** With any c at least this and any t_x that q_x(V_x) = phi(V_x) - c_x V_x is not below:
    h(V) - u.V >= nu - sigma(w) + sum over x of t_x. *)
Theorem leaf q u w sigma nu c t V :
  supports J q w sigma -> is_posterior J V -> allows J q (lift_of J V) ->
  (forall x, (x < n)%nat -> rate u w nu x <= c x) ->
  (forall x, (x < n)%nat -> t x <= phi (V x) - c x * V x) ->
  nu - sigma + sum n t <= entropy n V - dot J u V.
Proof.
  intros sup V_is allowed c_above t_below.
  assert (support : mean J (fun s => w s * lift_of J V s) <= sigma).
  { apply sup; auto using mean_lift_1. intros. now apply lift_nonneg. }
  rewrite mean_lift in support by assumption.
  destruct V_is as [signs total].
  enough (sum n t <= entropy n V - dot J u V - nu * sum n V +
          sum n (fun x => V x * sum (secrets J) (fun s => w s * P_S_given J s x))) as bound.
  { fold n in total. rewrite total in bound. unfold n in *. lra. }
  unfold entropy, dot. fold n. rewrite <- (sum_scale n nu), <- !sum_minus, <- sum_plus.
  apply sum_le. intros x x_in.
  specialize (c_above x x_in). specialize (t_below x x_in). unfold rate in c_above.
  pose proof (Rmult_le_compat_r (V x) _ _ (signs x x_in) c_above). lra.
Qed.

End Joint.
