//! Words as both indexes see them: lower case, without accents, reduced to their English stems.

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer,
    TokenStream as _,
};

/// The name of the analyzer in the schemas.
pub(crate) const ANALYZER: &str = "english";
/// The longest word that is indexed, in bytes.
const WORD_BYTES_MAX: usize = 60;
/// The most different words of what is wanted that are looked up.
const WANTED_MAX: usize = 32;
/// The most characters of what is wanted that are read.
const WANTED_CHARACTERS_MAX: usize = 4_000;

/// Words that say nothing about what is wanted. They are indexed, but not looked up.
const STOP_WORDS: [&str; 67] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "let",
    "me", "my", "no", "not", "of", "on", "or", "our", "please", "should", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "use", "using", "via",
    "want", "was", "what", "when", "where", "which", "will", "with", "you", "your",
];

/// Text to words.
pub(crate) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(WORD_BYTES_MAX))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// The stems of a text, in order, with repetitions.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut stems = Vec::new();
    while stream.advance() {
        stems.push(stream.token().text.clone());
    }
    stems
}

/// The different stems to look up. If all words are stop words, they are looked up after all.
pub(crate) fn wanted(text: &str) -> Vec<String> {
    let text: String = text.chars().take(WANTED_CHARACTERS_MAX).collect();
    let is_stop = |word: &&str| STOP_WORDS.contains(&word.to_lowercase().as_str());
    let telling: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !is_stop(word)).collect();
    let telling = telling.join(" ");
    let mut found: Vec<String> = Vec::new();
    for stem in stems(if telling.trim().is_empty() { &text } else { &telling }) {
        if found.len() < WANTED_MAX && !found.contains(&stem) {
            found.push(stem);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        assert_eq!(stems("Filtering the Filters, filtered"), ["filter", "the", "filter", "filter"]);
        assert_eq!(stems("Café"), stems("cafe"));
        assert!(stems(&"x".repeat(100)).is_empty());
    }

    #[test]
    fn stop_words_are_not_looked_up() {
        assert_eq!(wanted("How do I sort the rows, and sort them again?"), ["sort", "row", "again"]);
        assert_eq!(wanted("how to do it"), ["how", "to", "do", "it"]);
        assert!(wanted(" … ").is_empty());
        let many: String = (0..100).map(|number| format!("word{number} ")).collect();
        assert_eq!(wanted(&many).len(), WANTED_MAX);
    }
}
