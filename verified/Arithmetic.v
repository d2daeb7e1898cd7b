(** Verified arithmetic: lower ends of real expressions in integers (docs/theory.md, step 0).

    An expression is evaluated by Interval, in intervals of floats with directed rounding that are proven to contain the
    number. What is not decided has no floor. *)

From Coq Require Import Reals Lra Lia List ZArith Bool.
From Flocq Require Import Core.
From Interval Require Import Xreal Interval Float_full Float Specific_ops Basic Sig Generic_proof.
From Alphalift Require Import Carrier.
Import ListNotations.

Module F := SpecificFloat Carrier.
Module I := FloatIntervalFull F.

Open Scope R_scope.

Inductive expr :=
| Int (z : Z)
| Add (a b : expr)
| Mul (a b : expr)
| Quo (a : expr) (d : Z)
| Exp (a : expr)
| Ln (a : expr).

Fixpoint eval (e : expr) : R :=
  match e with
  | Int z => IZR z
  | Add a b => eval a + eval b
  | Mul a b => eval a * eval b
  | Quo a d => eval a / IZR d
  | Exp a => exp (eval a)
  | Ln a => ln (eval a)
  end.

Definition Neg (a : expr) : expr := Mul (Int (-1)) a.
Definition Sub (a b : expr) : expr := Add a (Neg b).

Lemma eval_Neg a : eval (Neg a) = - eval a.
Proof. cbn [eval Neg]. lra. Qed.

Lemma eval_Sub a b : eval (Sub a b) = eval a - eval b.
Proof. cbn [eval Sub]. rewrite eval_Neg. lra. Qed.

Definition total (l : list expr) : expr := fold_right Add (Int 0) l.

(** Whether an interval's ends are below 2^24: e to more would fill the memory, and is left undecided. *)
Definition moderate_end (x : F.type) : bool :=
  match F.toF x with Basic.Float _ m e => (Zpos (Pos.size m) + e <=? 24)%Z | _ => true end.
Definition moderate (x : I.type) : bool :=
  match x with Ibnd low high => moderate_end low && moderate_end high | Inan => true end.

(** An interval that contains the number, with [precision] bits. *)
Fixpoint around (precision : F.precision) (e : expr) : I.type :=
  match e with
  | Int z => I.fromZ precision z
  | Add a b => I.add precision (around precision a) (around precision b)
  | Mul a b => I.mul precision (around precision a) (around precision b)
  | Quo a d => I.div precision (around precision a) (I.fromZ precision d)
  | Exp a => let x := around precision a in if moderate x then I.exp precision x else I.nai
  | Ln a => I.ln precision (around precision a)
  end.

(** The same with [Xnan] for what is not defined. *)
Fixpoint extended (e : expr) : ExtendedR :=
  match e with
  | Int z => Xreal (IZR z)
  | Add a b => Xadd (extended a) (extended b)
  | Mul a b => Xmul (extended a) (extended b)
  | Quo a d => Xdiv (extended a) (Xreal (IZR d))
  | Exp a => Xexp (extended a)
  | Ln a => Xln (extended a)
  end.

Lemma extended_is e : extended e = Xnan \/ extended e = Xreal (eval e).
Proof.
  induction e as [z | a [Ha|Ha] b [Hb|Hb] | a [Ha|Ha] b [Hb|Hb] | a [Ha|Ha] d | a [Ha|Ha] | a [Ha|Ha]];
    cbn [extended eval]; rewrite ?Ha, ?Hb; auto.
  - simpl. unfold Xdiv'. destruct (is_zero _); auto.
  - simpl. unfold Xln'. destruct (is_positive _); auto.
Qed.

Lemma around_contains precision e : contains (I.convert (around precision e)) (extended e).
Proof.
  induction e; cbn [around extended].
  - apply I.fromZ_correct.
  - now apply I.add_correct.
  - now apply I.mul_correct.
  - apply I.div_correct; [assumption | apply I.fromZ_correct].
  - cbv zeta. destruct (moderate _); [now apply I.exp_correct | now rewrite I.nai_correct].
  - now apply I.ln_correct.
Qed.

(** An integer n with n / 2^bits at most the number, and nearly equal. *)
Definition floor (precision : F.precision) (e : expr) (bits : Z) : option Z :=
  match around precision e with
  | Inan => None
  | Ibnd low _ =>
      match F.toF low with
      | Basic.Fnan => None
      | Fzero => Some 0%Z
      | Basic.Float s m x => Some (Z.shiftl (if s then Z.neg m else Z.pos m) (x + bits))
      end
  end.

Lemma shiftl_below z k : IZR (Z.shiftl z k) <= IZR z * bpow radix2 k.
Proof.
  destruct (Z_le_dec 0 k) as [up|down].
  - rewrite Z.shiftl_mul_pow2, mult_IZR by assumption.
    rewrite <- (IZR_Zpower radix2) by assumption. simpl. lra.
  - replace k with (- - k)%Z at 1 by lia. rewrite <- Z.shiftr_opp_r. rewrite Z.opp_involutive.
    replace (Z.shiftr z (- k)) with (z / 2 ^ (- k))%Z by (now rewrite Z.shiftr_div_pow2 by lia).
    assert (positive : 0 < bpow radix2 (- k)) by apply bpow_gt_0.
    apply (Rmult_le_reg_r (bpow radix2 (- k))); [assumption|].
    rewrite Rmult_assoc, <- bpow_plus. replace (k + - k)%Z with 0%Z by lia. rewrite Rmult_1_r.
    rewrite <- (IZR_Zpower radix2) by lia. rewrite <- mult_IZR. apply IZR_le.
    rewrite Z.mul_comm. apply Z.mul_div_le. apply (Z.pow_pos_nonneg 2); lia.
Qed.

Theorem floor_below precision e bits z :
  (0 <= bits)%Z -> floor precision e bits = Some z -> IZR z <= eval e * IZR (2 ^ bits).
Proof.
  intros bits_nonneg. unfold floor.
  pose proof (around_contains precision e) as inside.
  destruct (around precision e) as [|low high]; [discriminate|].
  intros found. cbn [I.convert] in inside.
  destruct (I.F.valid_lb low && I.F.valid_ub high)%bool.
  2: { exfalso. simpl in inside. destruct (extended e); [easy | lra]. }
  assert (lower : forall r, I.F.toX low = Xreal r -> r <= eval e).
  { intros r is_r. rewrite is_r in inside. simpl in inside.
    destruct (extended_is e) as [nan|real]; [now rewrite nan in inside|].
    rewrite real in inside. tauto. }
  assert (positive : 0 < IZR (2 ^ bits)) by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  unfold I.F.toX in lower. change I.F.toF with F.toF in lower. destruct (F.toF low) as [| |s m x]; [discriminate| |].
  - injection found as <-. specialize (lower 0 eq_refl). nra.
  - injection found as <-. specialize (lower _ eq_refl). rewrite FtoR_split in lower.
    eapply Rle_trans; [apply shiftl_below|]. rewrite bpow_plus, <- (IZR_Zpower radix2 bits) by assumption.
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Rlt_le; exact positive|].
    unfold Defs.F2R in lower. simpl in lower. destruct s; exact lower.
Qed.

(** An integer n with n / 2^bits at least the number. *)
Definition ceiling (precision : F.precision) (e : expr) (bits : Z) : option Z :=
  option_map Z.opp (floor precision (Neg e) bits).

Theorem ceiling_above precision e bits z :
  (0 <= bits)%Z -> ceiling precision e bits = Some z -> eval e * IZR (2 ^ bits) <= IZR z.
Proof.
  intros bits_nonneg. unfold ceiling. destruct (floor precision (Neg e) bits) as [n|] eqn:found; [|discriminate].
  simpl. intros is_z. injection is_z as <-. apply floor_below in found; [|assumption].
  rewrite eval_Neg in found. rewrite opp_IZR. lra.
Qed.

(** Whether a number is proven not to be negative, at growing precision; undecided is false. *)
Fixpoint decide (precisions : list F.precision) (e : expr) : bool :=
  match precisions with
  | [] => false
  | precision :: further =>
      match floor precision e 0 with
      | Some n => if (0 <=? n)%Z then true
                  else match floor precision (Neg e) 0 with
                       | Some below => if (0 <=? below)%Z then false else decide further e
                       | None => decide further e
                       end
      | None => decide further e
      end
  end.

Theorem decide_sound precisions e : decide precisions e = true -> 0 <= eval e.
Proof.
  induction precisions as [|precision further IH]; cbn [decide]; [discriminate|].
  destruct (floor precision e 0) as [n|] eqn:found; [|exact IH].
  destruct (Z.leb_spec 0 n) as [nonneg|negative].
  - intros _. apply floor_below in found; [|lia]. apply IZR_le in nonneg.
    change (2 ^ 0)%Z with 1%Z in found. lra.
  - destruct (floor precision (Neg e) 0) as [below|]; [|exact IH].
    destruct (0 <=? below)%Z; [discriminate | exact IH].
Qed.
