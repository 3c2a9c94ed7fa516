package org.opendedup.sar.sdfs.cli.support;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.common.Sha256;

/**
 * Replaces names in texts by placeholders. One name always becomes the same placeholder in one bundle, so that lines
 * about one file can be recognized; a random salt prevents that a guessed name is confirmed.
 *
 * <ul>
 *   <li>Known names (volume, folders, mount point, host, user) become words such as {@code VOLUME}.
 *   <li>The path of a failed request, which ends before its inode number, becomes {@code name-} and eight digits.
 *   <li>Of the rest of a log line, each word that the program does not contain itself becomes such a placeholder: names
 *       appear in messages of the system, too, and no rule tells where such a name ends. A number stays, unless it is
 *       in a path or follows a name.
 * </ul>
 */
final class Placeholders {
    private static final Pattern REQUEST_PATH = Pattern.compile("(?:\\.\\.\\.)?/.*(?= \\((?:in )?inode \\d+\\))");
    private static final Pattern LOST_FILE = Pattern.compile("(?<=; |^)[^;]+(?=: up to \\d+ bytes)");
    private static final Pattern STACK_STEP = Pattern.compile("\\s+at [\\w.$/@-]+\\([\\w.$ -]+(?::\\d+)?\\).*");
    private static final Pattern OMITTED_STEPS = Pattern.compile("\\s+\\.\\.\\. \\d+ (?:more|common frames omitted)");
    private static final Pattern CLASS_NAME =
            Pattern.compile("(?:java|javax|jdk|sun|com\\.sun|org\\.rocksdb|org\\.opendedup)(?:\\.[A-Za-z_$][\\w$]*)+");
    private static final Pattern TOKEN = Pattern.compile("[^\\s()\\[\\]{}<>\"',;=|]+");
    /** A placeholder that an earlier step has made. */
    private static final Pattern DONE = Pattern.compile("[A-Z_]+(?:[/:.-].*)?|name-[0-9a-f]{8}[.:]?");

    private static final Pattern TIME =
            Pattern.compile("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+[.:]?");
    private static final Pattern PACK = Pattern.compile("\\b\\d{8}/\\d{12}\\.pack\\b");

    private static final Pattern PATH = Pattern.compile("/[^\\s()\\[\\]{}<>\"',;=|:]+");
    private static final Pattern LONG_HEX = Pattern.compile("\\b[0-9A-Fa-f]{16,}\\b");

    /** Keys of JSON objects whose text is one name. */
    private static final Set<String> NAMES = Set.of("path", "file", "address");

    private final boolean keepNames;
    private final Vocabulary vocabulary;
    private final byte[] salt = new byte[16];
    /** Known names to their placeholders; a longer name is first, since it may contain a shorter one. */
    private final Map<String, String> known =
            new TreeMap<>(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()));

    /** @param keepNames whether to change nothing */
    Placeholders(boolean keepNames, Vocabulary vocabulary) {
        this.keepNames = keepNames;
        this.vocabulary = vocabulary;
        new SecureRandom().nextBytes(salt);
    }

    boolean keepsNames() {
        return keepNames;
    }

    /** Makes a name known. A path is replaced anywhere, any other name where no letter or digit is next to it. */
    void know(String name, String placeholder) {
        if (!name.isBlank() && !name.equals("/") && !name.equals("root") && !name.equals("localhost")) {
            known.putIfAbsent(name, placeholder);
        }
    }

    /** Replaces known names, and nothing else: for texts that have no other names. */
    String knownIn(String text) {
        if (keepNames) {
            return text;
        }
        String replaced = text;
        for (Map.Entry<String, String> each : known.entrySet()) {
            String name = each.getKey();
            replaced = name.startsWith("/")
                    ? replaced.replace(name, each.getValue())
                    : replaced.replaceAll(
                            "(?<![\\p{L}\\p{N}])" + Pattern.quote(name) + "(?![\\p{L}\\p{N}])",
                            Matcher.quoteReplacement(each.getValue()));
        }
        return replaced;
    }

    /** Replaces known names, paths and long hexadecimal numbers: for a log of RocksDB, whose words are not ours. */
    String pathsIn(String line) {
        if (keepNames) {
            return line;
        }
        String replaced = PATH.matcher(knownIn(line)).replaceAll(found -> name(found.group()));
        return LONG_HEX.matcher(replaced).replaceAll(found -> name(found.group()));
    }

    /** Replaces everything that may be a name in a line of the log or a message. */
    String line(String line) {
        if (keepNames
                || STACK_STEP.matcher(line).matches()
                || OMITTED_STEPS.matcher(line).matches()) {
            return line;
        }
        String replaced = REQUEST_PATH.matcher(line).replaceAll(found -> name(found.group()));
        replaced = knownIn(LOST_FILE.matcher(replaced).replaceAll(found -> name(found.group())));
        return withoutUnknown(replaced);
    }

    /** Replaces the tokens that may be names, and numbers that follow one, separated from it by a space only. */
    private String withoutUnknown(String line) {
        var text = new StringBuilder();
        Matcher token = TOKEN.matcher(line);
        int done = 0;
        boolean isInName = false;
        while (token.find()) {
            String between = line.substring(done, token.start());
            String before = token.group();
            boolean goesOn =
                    isInName && between.isBlank() && NUMBER.matcher(before).matches();
            String after = goesOn ? name(before) : token(before);
            text.append(between).append(after);
            done = token.end();
            isInName = !after.equals(before) && !before.endsWith(":");
        }
        return text.append(line.substring(done)).toString();
    }

    private String token(String token) {
        boolean isPlain = TIME.matcher(token).matches()
                || DONE.matcher(token).matches() && !hasUnknown(token)
                || CLASS_NAME.matcher(withoutEnd(token)).matches()
                || vocabulary.hasAll(token) && !isPathWithNumber(token);
        return isPlain ? token : name(token);
    }

    /** Returns whether a token is a path of which a name may be a number; those of packs are the program's own. */
    private static boolean isPathWithNumber(String token) {
        String rest = PACK.matcher(token).replaceAll("");
        return rest.indexOf('/') >= 0 && NUMBER.matcher(rest).find();
    }

    /** Returns whether a token that begins like a placeholder goes on with something else. */
    private boolean hasUnknown(String token) {
        String rest = token;
        for (String placeholder : known.values()) {
            rest = rest.replace(placeholder, "");
        }
        return !rest.matches("name-[0-9a-f]{8}[.:]?") && (!vocabulary.hasAll(rest) || isPathWithNumber(rest));
    }

    private static String withoutEnd(String token) {
        return token.endsWith(":") || token.endsWith(".") ? token.substring(0, token.length() - 1) : token;
    }

    /** Replaces names in the texts of a JSON object; its keys stay. */
    Map<String, Object> object(Map<String, Object> object) {
        var replaced = new LinkedHashMap<String, Object>();
        object.forEach((key, value) -> replaced.put(
                key, !keepNames && NAMES.contains(key) && value instanceof String text ? path(text) : value(value)));
        return replaced;
    }

    /** Replaces a text that is one name; not if it consists of known ones. */
    String path(String text) {
        String replaced = knownIn(text);
        return replaced.equals(text) ? name(text) : line(text);
    }

    @SuppressWarnings("unchecked")
    private Object value(Object value) {
        if (value instanceof Map<?, ?> map) {
            return object((Map<String, Object>) map);
        } else if (value instanceof List<?> list) {
            return list.stream().map(this::value).toList();
        }
        return value instanceof String text ? line(text) : value;
    }

    private String name(String name) {
        MessageDigest digest = Sha256.newDigest();
        digest.update(salt);
        byte[] hash = digest.digest(name.getBytes(StandardCharsets.UTF_8));
        return "name-" + HexFormat.of().formatHex(hash, 0, 4);
    }
}
