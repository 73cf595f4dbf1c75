//! No name of the API is a keyword of a language that clients are written in, as the language's
//! generator writes the name.

use super::public::{enums, messages, public_files};

const LANGUAGES: [(&str, &str); 8] = [
    (
        "C++",
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t \
         char32_t class compl concept const consteval constexpr constinit const_cast continue \
         co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit \
         export extern false float for friend goto if inline int long mutable namespace new noexcept \
         not not_eq nullptr operator or or_eq private protected public register reinterpret_cast \
         requires return short signed sizeof static static_assert static_cast struct switch template \
         this thread_local throw true try typedef typeid typename union unsigned using virtual void \
         volatile wchar_t while xor xor_eq NULL EOF assert errno",
    ),
    (
        "C#",
        "abstract as base bool break byte case catch char checked class const continue decimal default \
         delegate do double else enum event explicit extern false finally fixed float for foreach goto \
         if implicit in int interface internal is lock long namespace new null object operator out \
         override params private protected public readonly ref return sbyte sealed short sizeof \
         stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe \
         ushort using virtual void volatile while",
    ),
    (
        "Go",
        "break case chan const continue default defer else fallthrough for func go goto if import \
         interface map package range return select struct switch type var",
    ),
    (
        "Java",
        "abstract assert boolean break byte case catch char class const continue default do double \
         else enum extends final finally float for goto if implements import instanceof int interface \
         long native new package private protected public return short static strictfp super switch \
         synchronized this throw throws transient try void volatile while true false null",
    ),
    (
        "JavaScript",
        "arguments await break case catch class const constructor continue debugger default delete do \
         else enum eval export extends false finally for function if implements import in instanceof \
         interface let new null package private protected public return static super switch this \
         throw true try typeof var void while with yield",
    ),
    (
        "Python",
        "False None True and as assert async await break class continue def del elif else except \
         finally for from global if import in is lambda nonlocal not or pass raise return try while \
         with yield",
    ),
    (
        "Rust",
        "Self abstract as async await become box break const continue crate do dyn else enum extern \
         false final fn for gen if impl in let loop macro match mod move mut override priv pub ref \
         return self static struct super trait true try type typeof union unsafe unsized use virtual \
         where while yield",
    ),
    ("TypeScript", "any declare never"),
];

/// Languages in which a name is a keyword.
fn languages_with(name: &str) -> Vec<&'static str> {
    let is_keyword = |words: &str| words.split_whitespace().any(|word| word == name);
    LANGUAGES.iter().filter(|(_, words)| is_keyword(words)).map(|(language, _)| *language).collect()
}

/// `Default` of `DEFAULT` and of `default`, `NotUsed` of `NOT_USED`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first
            .into_iter()
            .chain(letters.map(|letter| letter.to_ascii_lowercase()))
            .collect::<String>()
    };
    name.split('_').map(word).collect()
}

fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at(name.len().min(1));
    format!("{}{rest}", first.to_ascii_lowercase())
}

/// Every spelling of the name of a field.
fn field_spellings(name: &str) -> Vec<String> {
    vec![name.to_owned(), lower_first(&pascal_case(name)), pascal_case(name)]
}

/// Every spelling of the name of a value of an enum, with its prefix and without.
fn value_spellings(enum_name: &str, value: &str) -> Vec<String> {
    let mut prefix = String::new();
    for letter in enum_name.chars() {
        if letter.is_ascii_uppercase() && !prefix.is_empty() {
            prefix.push('_');
        }
        prefix.push(letter.to_ascii_uppercase());
    }
    let short = value.strip_prefix(&format!("{prefix}_"));
    let short = short.unwrap_or_else(|| panic!("{value} does not begin with {prefix}_"));
    vec![value.to_owned(), short.to_owned(), pascal_case(short)]
}

/// Every spelling of the name of a type or a method.
fn type_spellings(name: &str) -> Vec<String> {
    vec![name.to_owned(), lower_first(name)]
}

/// Names of all elements of the services, messages and enums, each with its spellings. Messages are
/// written as they are, so only methods have a lower-case spelling.
fn all_names() -> Vec<(String, Vec<String>)> {
    let mut names = Vec::new();
    for file in public_files().iter() {
        for message in messages(file) {
            names.push((message.name().to_owned(), vec![message.name().to_owned()]));
            let fields = message.field.iter().map(|field| field.name());
            let oneofs = message.oneof_decl.iter().map(|oneof| oneof.name());
            for name in fields.chain(oneofs) {
                let path = format!("{}.{name}", message.name());
                names.push((path, field_spellings(name)));
            }
        }
        for of in enums(file) {
            names.push((of.name().to_owned(), vec![of.name().to_owned()]));
            for value in &of.value {
                names.push((value.name().to_owned(), value_spellings(of.name(), value.name())));
            }
        }
        for service in &file.service {
            names.push((service.name().to_owned(), type_spellings(service.name())));
            for method in &service.method {
                let path = format!("{}.{}", service.name(), method.name());
                names.push((path, type_spellings(method.name())));
            }
        }
    }
    names
}

#[test]
fn no_name_is_a_keyword_anywhere() {
    let names = all_names();
    assert!(names.len() > 600, "{}", names.len());
    let faults: Vec<_> = names
        .iter()
        .flat_map(|(path, spellings)| spellings.iter().map(move |spelling| (path, spelling)))
        .filter_map(|(path, spelling)| {
            let languages = languages_with(spelling);
            (!languages.is_empty()).then(|| format!("{path}: `{spelling}` in {languages:?}"))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn keywords_are_found_in_every_spelling() {
    assert_eq!(languages_with("from"), ["Python"]);
    assert_eq!(languages_with("operator"), ["C++", "C#"]);
    assert_eq!(languages_with("move"), ["Rust"]);
    assert_eq!(value_spellings("EndReason", "END_REASON_NONE")[2], "None");
    assert_eq!(type_spellings("Delete")[1], "delete");
    assert_eq!(field_spellings("none"), ["none", "none", "None"]);
}
