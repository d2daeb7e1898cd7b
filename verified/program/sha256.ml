(* SHA-256 of a text, in hexadecimal: FIPS 180-4. *)

let mask = 0xFFFFFFFF

(* The first 32 bits of the fractions of roots of the first primes. *)
let primes count =
  let rec from n found =
    if List.length found = count then List.rev found
    else from (n + 1) (if List.exists (fun p -> n mod p = 0) found then found else n :: found)
  in
  from 2 []

let fraction_of_root order p =
  (* floor(2^32 p^(1/order)) mod 2^32, exactly *)
  Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int p) (32 * order)) order) (Z.of_int mask))

let start = Array.of_list (List.map (fraction_of_root 2) (primes 8))
let constants = Array.of_list (List.map (fraction_of_root 3) (primes 64))
let rotated x k = ((x lsr k) lor (x lsl (32 - k))) land mask

let padded text =
  let size = String.length text in
  let zeros = (119 - (size mod 64)) mod 64 in
  let tail = Bytes.make (1 + zeros + 8) '\000' in
  Bytes.set tail 0 '\x80';
  Bytes.set_int64_be tail (1 + zeros) (Int64.of_int (8 * size));
  text ^ Bytes.to_string tail

let hex text =
  let text = padded text and state = Array.copy start and w = Array.make 64 0 in
  for block = 0 to (String.length text / 64) - 1 do
    for i = 0 to 15 do
      w.(i) <- Int32.to_int (String.get_int32_be text ((64 * block) + (4 * i))) land mask
    done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      let s0 = rotated a 7 lxor rotated a 18 lxor (a lsr 3) and s1 = rotated b 17 lxor rotated b 19 lxor (b lsr 10) in
      w.(i) <- (w.(i - 16) + s0 + w.(i - 7) + s1) land mask
    done;
    let v = Array.copy state in
    for i = 0 to 63 do
      let a = v.(0) and e = v.(4) in
      let s1 = rotated e 6 lxor rotated e 11 lxor rotated e 25 and choice = (e land v.(5)) lxor (lnot e land mask land v.(6)) in
      let first = (v.(7) + s1 + choice + constants.(i) + w.(i)) land mask in
      let s0 = rotated a 2 lxor rotated a 13 lxor rotated a 22 in
      let majority = (a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2)) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + first) land mask;
      v.(0) <- (first + s0 + majority) land mask
    done;
    Array.iteri (fun i x -> state.(i) <- (x + v.(i)) land mask) state
  done;
  String.concat "" (List.map (Printf.sprintf "%08x") (Array.to_list state))
