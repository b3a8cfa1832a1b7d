//! Parameters declared once: the name, type, default, unit, meaning and source of each are in one place, from
//! which the code, `cwndlab show`, the docs and the error messages read them.

use crate::units::Span;
use std::any::Any;
use std::sync::Arc;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// On or off.
    Flag(bool),
    /// One of a few words.
    Word(&'static str),
    /// A length of time.
    Span(Span),
    /// The contents of a file.
    File(Arc<NamedFile>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Count(n) => write!(f, "{n}"),
            Value::Flag(b) => write!(f, "{b}"),
            Value::Word(w) => write!(f, "{w}"),
            Value::Span(s) => write!(f, "{s}"),
            Value::File(file) => write!(f, "{}", file.name),
        }
    }
}

/// A file that a parameter names, as read when the settings were checked.
pub struct NamedFile {
    /// Its name as it was given.
    pub name: String,
    /// A hash of its bytes.
    pub hash: String,
    content: Box<dyn Any + Send + Sync>,
}

impl Value {
    /// Whether both are numbers, counts or times, and this one is the larger.
    #[must_use]
    pub fn exceeds(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a > b,
            (Value::Count(a), Value::Count(b)) => a > b,
            (Value::Span(a), Value::Span(b)) => a > b,
            _ => false,
        }
    }
}

impl NamedFile {
    /// A file with this content; its reader and the algorithm that takes it agree on the type.
    #[must_use]
    pub fn new<T: Any + Send + Sync>(name: &str, hash: String, content: T) -> Self {
        Self { name: name.to_owned(), hash, content: Box::new(content) }
    }

    /// The file's content; `None` if it has another type.
    #[must_use]
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.downcast_ref()
    }
}

impl std::fmt::Debug for NamedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedFile")
            .field("name", &self.name)
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}

impl PartialEq for NamedFile {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.hash) == (&other.name, &other.hash)
    }
}

/// The files that a parameter accepts.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// The format, as users know it.
    pub format: &'static str,
    /// The word for no file.
    pub none: &'static str,
    /// Whether a file suits an algorithm with these settings; if not, why.
    pub check: FileCheck,
}

/// See [`FileKind::check`].
pub type FileCheck = fn(&NamedFile, &[(String, Value)]) -> Result<(), String>;

impl PartialEq for FileKind {
    fn eq(&self, other: &Self) -> bool {
        (self.format, self.none) == (other.format, other.none)
            && std::ptr::fn_addr_eq(self.check, other.check)
    }
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// A real number in this closed range.
    Number(f64, f64),
    /// A whole number in this closed range.
    Count(u64, u64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A length of time in this closed range.
    Span(Span, Span),
    /// A file of this kind, or the word for none.
    File(&'static FileKind),
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Allowed::Number(low, high) => write!(f, "a number from {low} to {high}"),
            Allowed::Count(low, u64::MAX) => write!(f, "a whole number from {low} on"),
            Allowed::Count(low, high) => write!(f, "a whole number from {low} to {high}"),
            Allowed::Flag => write!(f, "true or false"),
            Allowed::Word(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Span(low, high) => {
                write!(f, "a time with its unit from {low} to {high}, such as \"200 ms\"")
            }
            Allowed::File(kind) => write!(f, "the name of a {} file, or \"{}\"", kind.format, kind.none),
        }
    }
}

impl Allowed {
    /// Whether the value has the right type and range.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Allowed::Number(low, high), Value::Number(x)) => low <= x && x <= high,
            (Allowed::Count(low, high), Value::Count(n)) => low <= n && n <= high,
            (Allowed::Span(low, high), Value::Span(s)) => low <= s && s <= high,
            (Allowed::Flag, Value::Flag(_)) | (Allowed::File(_), Value::File(_)) => true,
            (Allowed::File(kind), Value::Word(w)) => *w == kind.none,
            (Allowed::Word(words), Value::Word(w)) => words.contains(w),
            _ => false,
        }
    }
}

/// The declaration of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// Its name in scenario files.
    pub name: &'static str,
    /// The default, as its source gives it.
    pub default: Value,
    /// The allowed values.
    pub allowed: Allowed,
    /// Its unit; empty for words, flags and pure numbers.
    pub unit: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
    /// The name of the parameter whose value it may not exceed, if there is one; checked for algorithms and TCP
    /// options.
    pub at_most: Option<&'static str>,
}

impl ParamSpec {
    /// The allowed values in words.
    #[must_use]
    pub fn expected(&self) -> String {
        match self.at_most {
            Some(other) => format!("{}, at most `{other}`", self.allowed),
            None => self.allowed.to_string(),
        }
    }
}

/// A type that can be a parameter; implemented for `f64`, `u64`, `bool`, [`Span`] and for [`words!`](crate::words).
pub trait Parameter: Sized {
    /// Converts to a value.
    fn to_value(&self) -> Value;
    /// Converts from a value of the right type; `None` for another one.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! parameter_type {
    ($type:ty, $variant:ident) => {
        impl Parameter for $type {
            fn to_value(&self) -> Value {
                Value::$variant(self.clone())
            }
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::$variant(x) => Some(x.clone()),
                    _ => None,
                }
            }
        }
    };
}
parameter_type!(f64, Number);
parameter_type!(u64, Count);
parameter_type!(bool, Flag);
parameter_type!(Span, Span);

/// Why a parameter was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No parameter has this name.
    Unknown,
    /// The value has another type, or is out of range.
    Value,
}

/// A set of declared parameters, made by [`parameters!`](crate::parameters).
pub trait Parameters: Default {
    /// The declarations, in order.
    fn specs() -> Vec<ParamSpec>;

    /// Sets one parameter.
    ///
    /// # Errors
    /// An unknown name, a wrong type or a value out of range.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), Refused>;

    /// The value in force.
    fn get(&self, name: &str) -> Option<Value>;

    /// The declared defaults with these settings applied. They were checked before; any that do not fit are ignored.
    #[must_use]
    fn with(settings: &[(String, Value)]) -> Self {
        let mut parameters = Self::default();
        for (name, value) in settings {
            let _checked_before = parameters.set(name, value);
        }
        parameters
    }
}

/// An enum of the words that a parameter may take.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::params::Parameter for $name {
            fn to_value(&self) -> $crate::params::Value {
                $crate::params::Value::Word(match self { $(Self::$variant => $word),+ })
            }
            fn from_value(value: &$crate::params::Value) -> Option<Self> {
                match value {
                    $($crate::params::Value::Word($word) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

/// A struct of parameters, each with its name, default, allowed values, unit, meaning and source; `at_most` names
/// another one that it may not exceed.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $struct:ident {
            $( $field:ident : $type:ty = $default:expr, $key:literal, $allowed:expr, $unit:literal,
               $meaning:literal, $source:literal $(, at_most $other:literal)?; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $struct {
            $( #[doc = $meaning] pub $field: $type, )*
        }

        impl Default for $struct {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::params::Parameters for $struct {
            fn specs() -> Vec<$crate::params::ParamSpec> {
                #[allow(unused_imports)]
                use $crate::params::{Allowed, Parameter};
                vec![ $( $crate::params::ParamSpec {
                    name: $key,
                    default: <$type as $crate::params::Parameter>::to_value(&$default),
                    allowed: $allowed,
                    unit: $unit,
                    meaning: $meaning,
                    source: $source,
                    at_most: None$(.or(Some($other)))?,
                }, )* ]
            }

            fn set(
                &mut self, name: &str, value: &$crate::params::Value,
            ) -> Result<(), $crate::params::Refused> {
                use $crate::params::Refused;
                let spec = Self::specs().into_iter().find(|spec| spec.name == name).ok_or(Refused::Unknown)?;
                if !spec.allowed.admits(value) {
                    return Err(Refused::Value);
                }
                match name {
                    $( $key => {
                        self.$field = <$type as $crate::params::Parameter>::from_value(value).ok_or(Refused::Value)?;
                    } )*
                    _ => {}
                }
                Ok(())
            }

            fn get(&self, name: &str) -> Option<$crate::params::Value> {
                match name {
                    $( $key => Some($crate::params::Parameter::to_value(&self.$field)), )*
                    _ => None,
                }
            }
        }
    };
}
