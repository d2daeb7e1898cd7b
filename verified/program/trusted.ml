(* What the extraction replaces by OCaml beside integers. *)

(* A function with a table of what it has computed: the same values, each found once. *)
let remembered f =
  let table = Hashtbl.create 1024 in
  fun argument ->
    match Hashtbl.find_opt table argument with
    | Some value -> value
    | None ->
      let value = f argument in
      Hashtbl.add table argument value;
      value

(* The length in bits. *)
let size positive = Z.of_int (Z.numbits positive)

(* The square root, rounded down, and the rest. *)
let root z = if Z.sign z <= 0 then (Z.zero, Z.zero) else Z.sqrt_rem z
