package org.opendedup.sar.sdfs.config;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Changes attributes of an element in the text of an XML file, and leaves every other character as it is: comments,
 * order and layout, which a parser would not give back.
 */
final class TagEdit {
    private static final Pattern ATTRIBUTE = Pattern.compile("\\G\\s+([^\\s=/>]+)\\s*=\\s*(\"[^\"]*\"|'[^']*')");

    /** What begins and ends parts of a file that have no elements. */
    private static final Map<String, String> SKIPPED = Map.of("<!--", "-->", "<![CDATA[", "]]>", "<?", "?>");

    private TagEdit() {}

    /**
     * Returns the text with other attributes of the first element of this name.
     *
     * @param text a well-formed file without a DOCTYPE
     * @param changes values by attribute; empty: the attribute is removed
     * @throws IllegalArgumentException if there is no such element
     */
    static String changed(String text, String element, Map<String, Optional<String>> changes) {
        int from = begin(text, element) + 1 + element.length();
        StringBuilder edited = new StringBuilder(text.substring(0, from));
        Map<String, Optional<String>> added = new LinkedHashMap<>(changes);
        Matcher attribute = ATTRIBUTE.matcher(text).region(from, end(text, from));
        int after = from;
        while (attribute.find()) {
            Optional<String> value = added.remove(attribute.group(1));
            if (value == null) {
                edited.append(attribute.group());
            } else if (value.isPresent()) {
                char quote = text.charAt(attribute.start(2));
                edited.append(text, attribute.start(), attribute.start(2)).append(quoted(value.get(), quote));
            }
            after = attribute.end();
        }
        added.forEach((name, value) -> value.ifPresent(
                present -> edited.append(' ').append(name).append('=').append(quoted(present, '"'))));
        return edited.append(text.substring(after)).toString();
    }

    /** Returns where the start tag of the first element of this name begins. */
    private static int begin(String text, String element) {
        for (int at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
            int place = at;
            Optional<String> skipped = SKIPPED.keySet().stream()
                    .filter(begin -> text.startsWith(begin, place))
                    .findFirst();
            if (skipped.isPresent()) {
                // Behind its beginning: "<!-->" does not end.
                at = text.indexOf(SKIPPED.get(skipped.get()), at + skipped.get().length());
            } else if (text.startsWith(element, at + 1) && isEndOfName(text.charAt(at + 1 + element.length()))) {
                return at;
            } else {
                at = end(text, at);
            }
        }
        throw new IllegalArgumentException("there is no <" + element + ">");
    }

    private static boolean isEndOfName(char character) {
        return Character.isWhitespace(character) || character == '/' || character == '>';
    }

    /** Returns where a tag ends: at its {@code >}, which may also stand in values. */
    private static int end(String text, int from) {
        char quote = 0;
        for (int at = from; at < text.length(); at++) {
            char character = text.charAt(at);
            if (quote != 0) {
                quote = character == quote ? 0 : quote;
            } else if (character == '"' || character == '\'') {
                quote = character;
            } else if (character == '>') {
                return at;
            }
        }
        throw new IllegalArgumentException("a tag does not end");
    }

    private static String quoted(String value, char quote) {
        // A reader takes line ends and tabs in a value for blanks.
        String escaped = value.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace("\t", "&#9;")
                .replace("\n", "&#10;")
                .replace("\r", "&#13;");
        return quote + escaped.replace(String.valueOf(quote), quote == '"' ? "&quot;" : "&apos;") + quote;
    }
}
