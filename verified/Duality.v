(** From prices to a bound, and the utility as a mean of entropies (docs/theory.md, steps 4 and 5). *)

From Coq Require Import Reals Lra Lia Arith.
From Alphalift Require Import Sums Problem Entropy.
Open Scope R_scope.

(** A distribution V of X; its lift, P(s|x)/P(s) on average over V. *)
Definition is_posterior (J : joint) (V : nat -> R) : Prop :=
  (forall x, (x < symbols J)%nat -> 0 <= V x) /\ sum (symbols J) V = 1.

Definition P_S_given (J : joint) (s x : nat) : R := mass J s x / P_X J x.

Definition lift_of (J : joint) (V : nat -> R) (s : nat) : R :=
  sum (symbols J) (fun x => V x * P_S_given J s x) / P_S J s.

(** u.V *)
Definition dot (J : joint) (u V : nat -> R) : R := sum (symbols J) (fun x => u x * V x).

(** P(X|Y=y). *)
Definition posterior (J : joint) (W : mechanism) (y x : nat) : R := law W y x * P_X J x / P_Y J W y.

Lemma allows_ext J q l l' :
  (forall s, (s < secrets J)%nat -> l s = l' s) -> allows J q l -> allows J q l'.
Proof.
  intros same. unfold allows. induction q as [| | | | | | | |first IH second IH']; simpl.
  - intros all s inside. rewrite <- same by assumption. auto.
  - intros all. unfold mean_over in *. erewrite sum_ext in all; [exact all|].
    intros s inside. now rewrite same.
  - intros all s inside. rewrite <- same by assumption. auto.
  - intros all s s' inside inside'. rewrite <- !same by assumption. auto.
  - intros all. unfold mean_over in *. erewrite sum_ext; [exact all|]. intros s inside. simpl. now rewrite same.
  - intros all. unfold mean_over in *. erewrite sum_ext; [exact all|]. intros s inside. simpl. now rewrite same.
  - intros all. unfold mean_over in *. erewrite sum_ext; [exact all|]. intros s inside. simpl. now rewrite same.
  - intros all. unfold mean_over in *. erewrite sum_ext; [exact all|]. intros s inside. simpl. now rewrite same.
  - intros [all all']. auto.
Qed.

Section Joint.
Variable J : joint.
Hypothesis J_is_joint : is_joint J.

Let n := symbols J.

Lemma P_X_pos x : (x < n)%nat -> 0 < P_X J x.
Proof. apply J_is_joint. Qed.

Lemma P_S_pos s : (s < secrets J)%nat -> 0 < P_S J s.
Proof. apply J_is_joint. Qed.

Lemma P_X_total : sum n (P_X J) = 1.
Proof.
  destruct J_is_joint as (_ & _ & _ & total). rewrite <- total. unfold P_X, P_S. apply sum_swap.
Qed.

(** E of the lifts of a posterior is 1, and they are not negative. *)
Lemma mean_lift w V :
  mean J (fun s => w s * lift_of J V s) =
  sum n (fun x => V x * sum (secrets J) (fun s => w s * P_S_given J s x)).
Proof.
  unfold mean, mean_over, lift_of.
  rewrite (sum_ext _ _ (fun s => sum n (fun x => w s * (V x * P_S_given J s x)))).
  - rewrite sum_swap. apply sum_ext. intros x inside. rewrite <- sum_scale. apply sum_ext. intros; lra.
  - intros s inside. rewrite sum_scale. pose proof (P_S_pos s inside). unfold n. field. lra.
Qed.

Lemma P_S_given_total x : (x < n)%nat -> sum (secrets J) (fun s => P_S_given J s x) = 1.
Proof.
  intros inside. pose proof (P_X_pos x inside). unfold P_S_given, Rdiv. rewrite sum_scale_r.
  fold (P_X J x). field. lra.
Qed.

Lemma mean_lift_1 V : is_posterior J V -> mean J (lift_of J V) = 1.
Proof.
  intros [_ total]. transitivity (mean J (fun s => 1 * lift_of J V s)).
  - apply sum_ext; intros; lra.
  - rewrite (mean_lift (fun _ => 1)). transitivity (sum n V); [|exact total]. apply sum_ext. intros x inside.
    rewrite (sum_ext (secrets J) _ (fun s => P_S_given J s x)) by (intros; lra).
    rewrite P_S_given_total by assumption. lra.
Qed.

Lemma P_S_given_nonneg s x : (s < secrets J)%nat -> (x < n)%nat -> 0 <= P_S_given J s x.
Proof.
  intros s_in x_in. pose proof (P_X_pos x x_in). apply Rmult_le_pos.
  - now apply J_is_joint.
  - now apply Rlt_le, Rinv_0_lt_compat.
Qed.

Lemma lift_nonneg V s : is_posterior J V -> (s < secrets J)%nat -> 0 <= lift_of J V s.
Proof.
  intros [signs _] inside. pose proof (P_S_pos s inside). apply Rmult_le_pos.
  - apply sum_nonneg. intros x x_in. apply Rmult_le_pos; [auto | now apply P_S_given_nonneg].
  - now apply Rlt_le, Rinv_0_lt_compat.
Qed.

Section Mechanism.
Variable W : mechanism.
Hypothesis W_is_mechanism : is_mechanism J W.

Lemma term_nonneg y x : (y < outputs W)%nat -> (x < n)%nat -> 0 <= law W y x * P_X J x.
Proof.
  intros y_in x_in. pose proof (P_X_pos x x_in).
  apply Rmult_le_pos; [now apply W_is_mechanism | lra].
Qed.

Lemma P_Y_nonneg y : (y < outputs W)%nat -> 0 <= P_Y J W y.
Proof. intros y_in. apply sum_nonneg. intros. now apply term_nonneg. Qed.

(** An output that never occurs has no law. *)
Lemma never y x : (y < outputs W)%nat -> (x < n)%nat -> P_Y J W y = 0 -> law W y x = 0.
Proof.
  intros y_in x_in null.
  assert (law W y x * P_X J x = 0)
    by exact (sum_null n (fun x => law W y x * P_X J x) (fun i i_in => term_nonneg y i y_in i_in) null x x_in).
  pose proof (P_X_pos x x_in). nra.
Qed.

Lemma posterior_is y : (y < outputs W)%nat -> 0 < P_Y J W y -> is_posterior J (posterior J W y).
Proof.
  intros y_in occurs. split.
  - intros x x_in. apply Rmult_le_pos; [now apply term_nonneg | now apply Rlt_le, Rinv_0_lt_compat].
  - unfold posterior, Rdiv. rewrite sum_scale_r. fold (P_Y J W y). field. lra.
Qed.

Lemma lift_of_posterior y s :
  (s < secrets J)%nat -> 0 < P_Y J W y -> lift_of J (posterior J W y) s = lift J W y s.
Proof.
  intros s_in occurs. pose proof (P_S_pos s s_in). unfold lift_of, lift, posterior.
  rewrite (sum_ext _ _ (fun x => law W y x * mass J s x * / P_Y J W y)).
  - rewrite sum_scale_r. fold (P_SY J W s y). field. lra.
  - intros x x_in. pose proof (P_X_pos x x_in). unfold P_S_given. field. lra.
Qed.

(** sum over y of P(y) V_y = P_X. *)
Lemma posteriors_mix x :
  (x < n)%nat -> sum (outputs W) (fun y => P_Y J W y * posterior J W y x) = P_X J x.
Proof.
  intros x_in. rewrite (sum_ext _ _ (fun y => law W y x * P_X J x)).
  - rewrite sum_scale_r. destruct W_is_mechanism as [_ total]. rewrite total by assumption. lra.
  - intros y y_in. unfold posterior. destruct (Req_dec (P_Y J W y) 0) as [null|some].
    + rewrite (never y x y_in x_in null). lra.
    + field. assumption.
Qed.

Lemma P_Y_total : sum (outputs W) (P_Y J W) = 1.
Proof.
  unfold P_Y. rewrite sum_swap, <- P_X_total. apply sum_ext. intros x x_in.
  rewrite sum_scale_r. destruct W_is_mechanism as [_ total]. rewrite total by assumption. lra.
Qed.

(** Step 4: I(X;Y) = H(X) - sum over y of P(y) H(V_y). *)
Lemma information_is :
  information J W =
  entropy n (P_X J) - sum (outputs W) (fun y => P_Y J W y * entropy n (posterior J W y)).
Proof.
  unfold information.
  rewrite (sum_ext (outputs W) _ (fun y =>
    sum n (fun x => P_Y J W y * posterior J W y x * - ln (P_X J x)) -
    P_Y J W y * entropy n (posterior J W y))).
  - rewrite sum_minus. f_equal. rewrite sum_swap. apply sum_ext. intros x x_in.
    rewrite sum_scale_r, posteriors_mix by assumption. unfold phi. lra.
  - intros y y_in. unfold entropy. rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros x x_in.
    pose proof (P_X_pos x x_in). unfold phi, posterior.
    destruct (P_Y_nonneg y y_in) as [occurs|null].
    + pose proof W_is_mechanism as [signs _]. destruct (signs y x y_in x_in) as [some|none].
      * unfold Rdiv. pose proof (Rinv_0_lt_compat _ occurs).
        rewrite !ln_mult by (try apply Rmult_lt_0_compat; assumption). field. lra.
      * rewrite <- none. unfold Rdiv. rewrite ?Rmult_0_l, ?Rmult_0_r, ?Rmult_0_l. lra.
    + rewrite (never y x y_in x_in (eq_sym null)). rewrite <- null. lra.
Qed.

(** Step 5: U <= h(P_X) - u.P_X - m, where m is at most h(V) - u.V for all V in F. *)
Theorem prices_bound q u m :
  (forall V, is_posterior J V -> allows J q (lift_of J V) -> m <= entropy n V - dot J u V) ->
  keeps J q W ->
  information J W <= entropy n (P_X J) - dot J u (P_X J) - m.
Proof.
  intros least kept. rewrite information_is.
  enough (dot J u (P_X J) + m <= sum (outputs W) (fun y => P_Y J W y * entropy n (posterior J W y))) by lra.
  replace (dot J u (P_X J) + m) with
    (sum (outputs W) (fun y => P_Y J W y * (dot J u (posterior J W y) + m))).
  - apply sum_le. intros y y_in. destruct (P_Y_nonneg y y_in) as [occurs|null]; [|rewrite <- null; lra].
    apply Rmult_le_compat_l; [lra|].
    enough (m <= entropy n (posterior J W y) - dot J u (posterior J W y)) by lra.
    apply least; [now apply posterior_is|].
    apply (allows_ext J q (lift J W y)); [|now apply kept].
    intros s s_in. symmetry. now apply lift_of_posterior.
  - rewrite (sum_ext _ _ (fun y => sum n (fun x => u x * (P_Y J W y * posterior J W y x)) + P_Y J W y * m)).
    + rewrite sum_plus, sum_scale_r, P_Y_total, sum_swap, Rmult_1_l. f_equal.
      apply sum_ext. intros x x_in. rewrite sum_scale, posteriors_mix by assumption. reflexivity.
    + intros y y_in. unfold dot. rewrite Rmult_plus_distr_l, <- sum_scale. f_equal.
      apply sum_ext. intros; lra.
Qed.

(** Step 4: without a certificate, nothing exceeds publishing X. *)
Theorem publishing_X : information J W <= entropy n (P_X J).
Proof.
  rewrite information_is.
  enough (0 <= sum (outputs W) (fun y => P_Y J W y * entropy n (posterior J W y))) by lra.
  apply sum_nonneg. intros y y_in. destruct (P_Y_nonneg y y_in) as [occurs|null]; [|rewrite <- null; lra].
  apply Rmult_le_pos; [lra|]. destruct (posterior_is y y_in occurs). now apply entropy_nonneg.
Qed.

End Mechanism.
End Joint.
