(** The theorems. Problem.v says what its words mean, Meaning.v what the integers of a file stand for. *)

From Coq Require Import Reals List ZArith Bool.
From Alphalift Require Import Problem Checker Meaning Integers Promises Unseen Worth Optimum Sampling.
Open Scope R_scope.

(** If the program accepts a file, then, for the joint P(s, x) of its counts, the mechanism P(y|x) of its integers and
    the promise that it states:

    - the counts are a joint distribution and the weights a mechanism;
    - every output keeps the promise;
    - if it answers unseen values, every output keeps the promise over all records, too;
    - I(X;Y) is at least what the file says;
    - every mechanism, with any number of outputs, that keeps the promise has I(X;Y) at most what the file says. *)
Theorem accepted :
  forall f : file,
  accepts f = true ->
  let J := joint_of f in
  let W := mechanism_of f in
  let q := promise_of (region f) in
  is_joint J /\
  is_mechanism J W /\
  keeps J q W /\
  (forall answers, unseen f = Some answers -> keeps_unseen J q W (answers_of f answers)) /\
  number (at_least f) <= information J W /\
  (forall M : mechanism, is_mechanism J M -> keeps J q M -> information J M <= number (at_most f)).
Proof.
  intros f ok. unfold accepts in ok. repeat rewrite andb_true_iff in ok.
  destruct ok as ((((formed & promise) & answers) & utility) & optimum).
  destruct (promise_kept f formed promise) as [_ kept]. cbv zeta.
  assert (parameters_ok : parameters_hold (region f) = true)
    by (unfold promise_holds in promise; now apply andb_true_iff in promise as [parameters_ok _]).
  split; [now apply J_is_joint|]. split; [now apply W_is_mechanism|]. split; [exact kept|].
  split; [now apply unseen_kept|]. split; [now apply worth_at_least | now apply optimum_at_most].
Qed.

(** Then drawing with one of the 2^K words of K bits is exact: y has its probability's share of them, for every symbol and
    for unseen values. *)
Theorem drawn :
  forall f : file,
  accepts f = true ->
  (forall x y, (x < size f)%nat -> (y < length (weights f))%nat ->
    share_of_words (bits f) (column_of f x) y = law (mechanism_of f) y x) /\
  (forall answers, unseen f = Some answers ->
    forall y, share_of_words (bits f) answers y = answers_of f answers y).
Proof.
  intros f ok. unfold accepts in ok. repeat rewrite andb_true_iff in ok. destruct ok as ((((formed & _) & ok) & _) & _).
  split; [now apply law_is_share|]. intros answers is_unseen y. now apply (answers_are_shares f).
Qed.
