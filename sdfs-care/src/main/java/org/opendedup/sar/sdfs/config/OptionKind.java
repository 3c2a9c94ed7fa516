package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opendedup.sar.common.ByteSize;

/**
 * How the values of an option are written: the same text on the command line and in the volume file, and a value of
 * JSON that reports, the control socket and JMX share.
 *
 * @param label what stands for the value in the help
 * @param parser reads the text; throws an IllegalArgumentException that says what is allowed
 * @param printer returns the text that the parser reads
 * @param json returns a number, a boolean or a text
 * @param choices all texts, if there are only a few
 */
record OptionKind<T>(
        String label,
        Function<String, T> parser,
        Function<T, String> printer,
        Function<T, Object> json,
        List<String> choices) {
    private static final int NAME_LENGTH_MAX = 100;

    /** A name after which a file can be named. */
    static final OptionKind<String> NAME = text("NAME", OptionKind::name);

    static final OptionKind<Long> SIZE = number("SIZE", ByteSize::parse, ByteSize::exact);
    static final OptionKind<Integer> MODE =
            new OptionKind<>("MODE", OptionKind::mode, OptionKind::mode, OptionKind::mode, List.of());
    static final OptionKind<Path> FOLDER = text("FOLDER", OptionKind::path);

    /** A file that a process with another working folder reads. */
    static final OptionKind<Path> FILE = text("FILE", OptionKind::absolute);

    /** Folders with colons between them, as in $PATH. */
    static final OptionKind<List<Path>> FOLDERS =
            new OptionKind<>("FOLDER[:FOLDER...]", OptionKind::paths, OptionKind::paths, OptionKind::paths, List.of());

    static final OptionKind<Double> SHARE =
            number("SHARE", text -> number(text, "a number such as 0.5", Double::parseDouble), String::valueOf);
    static final OptionKind<Boolean> BOOLEAN =
            new OptionKind<>("true|false", OptionKind::bool, String::valueOf, value -> value, List.of("true", "false"));
    /** One that is true by being named. */
    static final OptionKind<Boolean> FLAG = BOOLEAN.labelled("");

    static OptionKind<Integer> integer(String label) {
        return number(label, text -> number(text, "a whole number", Integer::parseInt), String::valueOf);
    }

    /** A number, which JSON has as one, whatever its text. */
    static <N extends Number> OptionKind<N> number(
            String label, Function<String, N> parser, Function<N, String> printer) {
        return new OptionKind<>(label, parser, printer, value -> value, List.of());
    }

    /** A value whose text is that of {@code toString}. */
    static <T> OptionKind<T> text(String label, Function<String, T> parser) {
        return new OptionKind<>(label, parser, String::valueOf, String::valueOf, List.of());
    }

    /** One of a few values; upper and lower case mean the same. */
    @SafeVarargs
    static <T> OptionKind<T> choice(String label, Function<? super T, String> spelling, T... values) {
        List<String> names = Stream.of(values).<String>map(spelling).toList();
        Function<String, T> parser = text -> {
            for (int i = 0; i < values.length; i++) {
                if (names.get(i).equalsIgnoreCase(text)) {
                    return values[i];
                }
            }
            throw new IllegalArgumentException("'" + text + "' is not one of " + String.join(", ", names));
        };
        return new OptionKind<>(label, parser, spelling::apply, spelling::apply, names);
    }

    /** Returns the spelling of a constant: in lower case, with dashes. */
    static String spelling(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns this kind with another word for the value in the help. */
    OptionKind<T> labelled(String other) {
        return new OptionKind<>(other, parser, printer, json, choices);
    }

    private static <N> N number(String text, String wanted, Function<String, N> parser) {
        try {
            return parser.apply(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not " + wanted, e);
        }
    }

    private static String name(String text) {
        if (!text.matches("[A-Za-z0-9_][A-Za-z0-9._-]*") || text.length() > NAME_LENGTH_MAX) {
            throw new IllegalArgumentException("'" + text + "' is no volume name; use up to " + NAME_LENGTH_MAX
                    + " letters, digits, '.', '_' and '-', not starting with '.' or '-'");
        }
        return text;
    }

    private static int mode(String text) {
        if (!text.matches("[0-7]{3,5}")) {
            throw new IllegalArgumentException("'" + text + "' is not an octal mode, such as 0755");
        }
        return Integer.parseInt(text, 8);
    }

    private static String mode(int mode) {
        return String.format(Locale.ROOT, "%04o", mode);
    }

    /** Returns a time in seconds; 0 for {@code off}. */
    static int seconds(String text) {
        // Integer.parseInt also takes a sign, and digits of other scripts.
        long seconds = text.matches("[0-9]{1,10}") ? Long.parseLong(text) : 0;
        if (!text.equals("off") && (seconds < 1 || seconds > Integer.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a number of seconds from 1 to 2147483647, or off");
        }
        return (int) seconds;
    }

    static String seconds(int seconds) {
        return seconds == 0 ? "off" : Integer.toString(seconds);
    }

    /** An empty path would be the working folder, which nobody means: a variable was not set. */
    private static Path path(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("the path is empty; for the present folder, write .");
        }
        return Path.of(text);
    }

    private static Path absolute(String text) {
        Path path = path(text);
        if (!path.isAbsolute()) {
            throw new IllegalArgumentException("'" + text + "' is no absolute path");
        }
        return path;
    }

    private static List<Path> paths(String text) {
        return Stream.of(text.split(":", -1)).map(OptionKind::path).toList();
    }

    private static String paths(List<Path> folders) {
        return folders.stream().map(Path::toString).collect(Collectors.joining(":"));
    }

    private static boolean bool(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("'" + text + "' is not true or false");
        };
    }
}
