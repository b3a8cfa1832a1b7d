//! Tables of `docs/validation.md`. The page is written by hand but for its tables: each stands between two marks,
//! and a test renders it anew and compares.

use std::path::PathBuf;
use std::sync::Mutex;

/// Two tests must not rewrite the page at once.
static PAGE: Mutex<()> = Mutex::new(());

/// A table of the page.
pub struct Table {
    name: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these heads.
    pub fn new(name: &'static str, heads: &[&str]) -> Self {
        Self { name, rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.rows[0].len(), "a row of {} has another number of cells than its head", self.name);
        self.rows.push(cells.into());
    }

    fn markdown(&self) -> String {
        let columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} |"));
            format!("|{}\n", cells.collect::<String>())
        };
        let rule: String = widths.iter().map(|width| format!("-{}-|", "-".repeat(*width))).collect();
        let body: String = self.rows[1..].iter().map(line).collect();
        format!("{}|{rule}\n{body}", line(&self.rows[0]))
    }
}

fn page_path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation.md"))
}

fn marks(name: &str) -> (String, String) {
    (format!("<!-- table: {name} -->\n"), format!("<!-- end: {name} -->\n"))
}

/// What stands between a table's marks.
fn placed<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (begin, end) = marks(name);
    let (_, rest) = page.split_once(&begin)?;
    Some(rest.split_once(&end)?.0)
}

fn replace(page: &str, name: &str, text: &str) -> Option<String> {
    let old = placed(page, name)?;
    let (begin, end) = marks(name);
    Some(page.replace(&format!("{begin}{old}{end}"), &format!("{begin}{text}{end}")))
}

/// Compares the tables with the page (or rewrites them, with `CWNDLAB_BLESS=1`), then says what broke a bound.
pub fn publish(tables: &[Table], mut broken: Vec<String>) {
    let guard = PAGE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut page = std::fs::read_to_string(page_path()).expect("docs/validation.md");
    let bless = std::env::var_os("CWNDLAB_BLESS").is_some();
    for table in tables {
        let text = table.markdown();
        match placed(&page, table.name) {
            None => broken.push(format!("docs/validation.md has no place for the table {}", table.name)),
            Some(old) if old == text => {}
            Some(_) if bless => page = replace(&page, table.name, &text).expect("the place was there"),
            Some(old) => broken.push(format!(
                "docs/validation.md is out of date; run with CWNDLAB_BLESS=1 to rewrite: {}\nthere:\n{old}\nnow:\n{text}",
                table.name
            )),
        }
    }
    if bless {
        std::fs::write(page_path(), page).expect("docs/validation.md");
    }
    drop(guard);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A number with this many decimals.
pub fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}")
}

/// A gap in per cent.
pub fn percent(value: f64) -> String {
    format!("{value:+.1}")
}

/// `middle [low, high]`.
pub fn range(middle: f64, low: f64, high: f64, decimals: usize) -> String {
    format!("{middle:.decimals$} [{low:.decimals$}, {high:.decimals$}]")
}
