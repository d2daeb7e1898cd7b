(* The JSON of mechanism files: integers, texts, lists, objects with single keys, null. All else is refused. *)

exception Refused of string

type t =
  | Null
  | Integer of Z.t
  | Text of int list  (* code points *)
  | List of t list
  | Object of (string * t) list

let refuse reason = raise (Refused reason)

let most_digits = 1300

(* The code points of UTF-8 bytes, shortest forms only. *)
let code_points bytes =
  let size = String.length bytes in
  let byte i = if i < size then Char.code bytes.[i] else refuse "the file is not UTF-8" in
  let continued i =
    let b = byte i in
    if b land 0xC0 <> 0x80 then refuse "the file is not UTF-8";
    b land 0x3F
  in
  let rec from i found =
    if i = size then List.rev found
    else
      let b = byte i in
      let length, value, least =
        if b < 0x80 then (1, b, 0)
        else if b land 0xE0 = 0xC0 then (2, ((b land 0x1F) lsl 6) lor continued (i + 1), 0x80)
        else if b land 0xF0 = 0xE0 then
          (3, ((b land 0x0F) lsl 12) lor (continued (i + 1) lsl 6) lor continued (i + 2), 0x800)
        else if b land 0xF8 = 0xF0 then
          ( 4,
            ((b land 0x07) lsl 18) lor (continued (i + 1) lsl 12) lor (continued (i + 2) lsl 6) lor continued (i + 3),
            0x10000 )
        else refuse "the file is not UTF-8"
      in
      if value < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) then refuse "the file is not UTF-8";
      from (i + length) (value :: found)
  in
  from 0 []

let parse content =
  let size = String.length content in
  let place = ref 0 in
  let peek () = if !place < size then content.[!place] else '\000' in
  let next () =
    if !place >= size then refuse "the file ends early";
    let c = content.[!place] in
    incr place;
    c
  in
  let rec blank () =
    match peek () with
    | (' ' | '\t' | '\n' | '\r') when !place < size -> incr place; blank ()
    | _ -> ()
  in
  let expect c = if next () <> c then refuse (Printf.sprintf "a '%c' is missing" c) in
  let integer () =
    let start = !place in
    if peek () = '-' then incr place;
    let first = !place in
    while match peek () with '0' .. '9' -> true | _ -> false do incr place done;
    let digits = !place - first in
    if digits = 0 || (digits > 1 && content.[first] = '0') then refuse "a value is not JSON";
    (match peek () with '.' | 'e' | 'E' -> refuse "a number is not an integer" | _ -> ());
    if !place - start > most_digits then refuse "a number has too many digits";
    Integer (Z.of_string (String.sub content start (!place - start)))
  in
  let unit_of_four () =
    let value = ref 0 in
    for _ = 1 to 4 do
      let digit =
        match next () with
        | '0' .. '9' as c -> Char.code c - 48
        | 'a' .. 'f' as c -> Char.code c - 87
        | 'A' .. 'F' as c -> Char.code c - 55
        | _ -> refuse "a text is not JSON"
      in
      value := (!value * 16) + digit
    done;
    !value
  in
  let text () =
    expect '"';
    let found = ref [] in
    let raw = Buffer.create 16 in
    let flush () =
      found := List.rev_append (code_points (Buffer.contents raw)) !found;
      Buffer.clear raw
    in
    let add c = flush (); found := c :: !found in
    let rec go () =
      match next () with
      | '"' -> flush ()
      | '\\' ->
        (match next () with
         | '"' -> add 34 | '\\' -> add 92 | '/' -> add 47 | 'b' -> add 8 | 'f' -> add 12
         | 'n' -> add 10 | 'r' -> add 13 | 't' -> add 9
         | 'u' ->
           let high = unit_of_four () in
           if high >= 0xD800 && high < 0xDC00 && peek () = '\\' then begin
             expect '\\'; expect 'u';
             let low = unit_of_four () in
             if low < 0xDC00 || low > 0xDFFF then refuse "a text is not Unicode";
             add (0x10000 + ((high - 0xD800) lsl 10) + (low - 0xDC00))
           end
           else if high >= 0xD800 && high < 0xE000 then refuse "a text is not Unicode"
           else add high
         | _ -> refuse "a text is not JSON");
        go ()
      | c when Char.code c < 32 -> refuse "a text is not JSON"
      | c -> Buffer.add_char raw c; go ()
    in
    go ();
    List.rev !found
  in
  let name () =
    String.concat "" (List.map (fun c -> if c < 128 then String.make 1 (Char.chr c) else Printf.sprintf "\\u%x" c) (text ()))
  in
  let rec value depth =
    if depth > 100 then refuse "the file is too deep";
    blank ();
    let found =
      match peek () with
      | '{' -> incr place; Object (members depth [])
      | '[' -> incr place; List (entries depth [])
      | '"' -> Text (text ())
      | 'n' -> String.iter expect "null"; Null
      | _ -> integer ()
    in
    blank ();
    found
  and entries depth found =
    blank ();
    if found = [] && peek () = ']' then (incr place; [])
    else begin
      let found = value (depth + 1) :: found in
      match next () with
      | ',' -> entries depth found
      | ']' -> List.rev found
      | _ -> refuse "a list is not JSON"
    end
  and members depth found =
    blank ();
    if found = [] && peek () = '}' then (incr place; [])
    else begin
      let key = name () in
      if List.mem_assoc key found then refuse "a key occurs twice";
      blank ();
      expect ':';
      let found = (key, value (depth + 1)) :: found in
      match next () with
      | ',' -> members depth found
      | '}' -> List.rev found
      | _ -> refuse "an object is not JSON"
    end
  in
  let found = value 0 in
  if !place <> size then refuse "the file goes on after its end";
  found

(* What the object has under these keys, and no others. *)
let fields value keys =
  match value with
  | Object pairs when List.sort compare (List.map fst pairs) = List.sort compare keys ->
    List.map (fun key -> List.assoc key pairs) keys
  | _ -> refuse ("an object must have exactly the keys " ^ String.concat ", " keys)

let integer = function Integer z -> z | _ -> refuse "an integer is missing"
let list = function List entries -> entries | _ -> refuse "a list is missing"
let text = function Text points -> points | _ -> refuse "a text is missing"
let integers value = List.map integer (list value)

(* A text of printable ASCII, as bytes. *)
let word value =
  String.concat "" (List.map (fun c -> if c >= 32 && c < 127 then String.make 1 (Char.chr c) else "?") (text value))

(* ASCII text without spaces, as identities hash it. *)
let rec print into = function
  | Null -> Buffer.add_string into "null"
  | Integer z -> Buffer.add_string into (Z.to_string z)
  | List entries ->
    Buffer.add_char into '[';
    List.iteri (fun i entry -> if i > 0 then Buffer.add_char into ','; print into entry) entries;
    Buffer.add_char into ']'
  | Text points ->
    let escaped c = Buffer.add_string into (Printf.sprintf "\\u%04x" c) in
    let add = function
      | 34 -> Buffer.add_string into "\\\"" | 92 -> Buffer.add_string into "\\\\"
      | 10 -> Buffer.add_string into "\\n" | 13 -> Buffer.add_string into "\\r" | 9 -> Buffer.add_string into "\\t"
      | 8 -> Buffer.add_string into "\\b" | 12 -> Buffer.add_string into "\\f"
      | c when c >= 32 && c < 127 -> Buffer.add_char into (Char.chr c)
      | c when c < 0x10000 -> escaped c
      | c -> escaped (0xD800 + ((c - 0x10000) lsr 10)); escaped (0xDC00 + ((c - 0x10000) land 0x3FF))
    in
    Buffer.add_char into '"';
    List.iter add points;
    Buffer.add_char into '"'
  | Object _ -> refuse "an object has no identity"
