package org.opendedup.sar.sdfs.config;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One option of a volume, declared once. The options of {@code mkfs.sdfs}, the reader and the writer of the volume
 * file, reports, commands that change a mounted volume, JMX and the table in the documentation come from it. Immutable.
 */
public final class VolumeOption<T> {
    private final Declaration<T> declared;
    private final String text;

    private VolumeOption(Declaration<T> declared, String text) {
        this.declared = declared;
        this.text = text;
    }

    /**
     * Begins the declaration of an option.
     *
     * @param name its name for {@code mkfs.sdfs}, with dashes; empty: it has none
     * @param xml its place in the volume file, {@code element/attribute}; empty: it only decides about others
     * @param key its name in reports, for the control socket and in JMX, after that of its part, such as
     *     {@code sar.maxRunBytes}; empty: it is reported with another option
     */
    static <T> Declaration<T> option(String name, String xml, String key, OptionKind<T> kind) {
        return new Declaration<>(name, xml, key, kind);
    }

    /** Returns the name for mkfs.sdfs, with dashes; empty if it has none. */
    public String name() {
        return declared.name;
    }

    /** Returns whether the volume file has it. */
    public boolean isStored() {
        return !declared.xml.isEmpty();
    }

    /** Returns the path of its element in the volume file. */
    String element() {
        return declared.xml.substring(0, declared.xml.lastIndexOf('/'));
    }

    String attribute() {
        return declared.xml.substring(declared.xml.lastIndexOf('/') + 1);
    }

    /** Returns the name of its part of a report; empty for the volume itself. */
    public String part() {
        return declared.key.substring(0, Math.max(0, declared.key.indexOf('.')));
    }

    /** Returns its name in reports, for the control socket and in JMX; empty if it is reported with another option. */
    public String key() {
        return declared.key.substring(declared.key.indexOf('.') + 1);
    }

    /** Returns what stands for the value in the help; empty if it has none and is true by being named. */
    public String label() {
        return declared.kind.label();
    }

    /** Returns the value if it is not given; empty if there is none, or it depends on others. */
    public Optional<T> byDefault() {
        return Optional.ofNullable(declared.byDefault);
    }

    /** Returns the value if it is not given, in words; empty if there is none. */
    public String defaultText() {
        return declared.defaultText.isEmpty() && label().length() > 0
                ? byDefault().map(this::print).orElse("")
                : declared.defaultText;
    }

    /** Returns what the option does, with the unit of its value. */
    public String text() {
        return text;
    }

    /** Returns the command that changes it in a mounted volume, such as {@code sar set --max-run}; empty: none. */
    public String changedBy() {
        return declared.changedBy;
    }

    /** Returns whether mkfs.sdfs must be told. */
    public boolean isRequired() {
        return declared.required;
    }

    /** Returns whether a volume may be without a value. */
    boolean mayBeAbsent() {
        return declared.absent;
    }

    /** Returns whether the file of a release before may lack it, and then means the default. */
    boolean isAdded() {
        return declared.added;
    }

    /** Returns what a report has in place of a missing value; null: nothing. */
    public @Nullable Object absentInReport() {
        return declared.absentInReport;
    }

    /** Returns the smallest allowed value; empty: no bound. */
    public Optional<T> least() {
        return Optional.ofNullable(declared.least);
    }

    /** Returns the largest allowed value; empty: no bound. */
    public Optional<T> most() {
        return Optional.ofNullable(declared.most);
    }

    /** Returns the only allowed texts; empty if there are many. */
    public List<String> choices() {
        return declared.kind.choices();
    }

    /** Returns the allowed values, such as {@code from 1 to 100}; empty if the kind of value says enough. */
    public String range() {
        String end = most().map(bound -> " to " + print(bound)).orElse("");
        return least().map(bound -> (end.isEmpty() ? "at least " : "from ") + print(bound) + end)
                .orElse("");
    }

    /** @throws IllegalArgumentException if the text is no allowed value; the message says what is allowed */
    public T parse(String value) {
        T parsed = read(value);
        if (parsed instanceof Number number) {
            checkRange(number, print(parsed));
        }
        return parsed;
    }

    /** As {@link #parse}, but any value of the type is allowed: the daemon refuses those that are out of range. */
    public T read(String value) {
        return declared.kind.parser().apply(value);
    }

    private void checkRange(Number value, String shown) {
        boolean low = declared.least instanceof Number least && value.doubleValue() < least.doubleValue();
        boolean high = declared.most instanceof Number most && value.doubleValue() > most.doubleValue();
        if (low || high || Double.isNaN(value.doubleValue())) {
            throw new IllegalArgumentException(shown + "; it must be " + range());
        }
    }

    /** Returns the text that {@link #parse} reads. */
    public String print(T value) {
        return declared.kind.printer().apply(value);
    }

    /** Returns a number, a boolean or a text. */
    public Object json(T value) {
        return declared.kind.json().apply(value);
    }

    /**
     * Returns the value that {@link #json} returned.
     *
     * @throws IllegalArgumentException if it is not of the type, or not allowed; the message names the option
     */
    T ofJson(@Nullable Object value) {
        Object sample = json(Objects.requireNonNull(declared.byDefault == null ? declared.least : declared.byDefault));
        try {
            if (sample instanceof Number) {
                if (!(value instanceof Integer || value instanceof Long)) {
                    throw new IllegalArgumentException("'" + value + "' is not a whole number");
                }
                checkRange((Number) value, value.toString());
            } else if (!sample.getClass().isInstance(value)) {
                throw new IllegalArgumentException("'" + value + "' is not one of " + String.join(", ", choices()));
            }
            return parse(String.valueOf(value));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(key() + ": " + e.getMessage(), e);
        }
    }

    /** Returns the name that a user knows best. */
    @Override
    public String toString() {
        return name().isEmpty() ? declared.xml : name();
    }

    /** An option while it is declared. */
    static final class Declaration<T> {
        private final String name;
        private final String xml;
        private final String key;
        private final OptionKind<T> kind;
        private @Nullable T byDefault;
        private String defaultText = "";
        private String changedBy = "";
        private @Nullable T least;
        private @Nullable T most;
        private boolean required;
        private boolean absent;
        private boolean added;
        private @Nullable Object absentInReport;

        private Declaration(String name, String xml, String key, OptionKind<T> kind) {
            this.name = name;
            this.xml = xml;
            this.key = key;
            this.kind = kind;
        }

        Declaration<T> byDefault(T value) {
            byDefault = value;
            return this;
        }

        /** Says in words what the value is if it is not given. */
        Declaration<T> byDefaultAs(String words) {
            defaultText = words;
            return this;
        }

        Declaration<T> from(T bound) {
            least = bound;
            return this;
        }

        Declaration<T> to(T bound) {
            most = bound;
            return this;
        }

        /** Names the command that changes it in a mounted volume, without {@code sdfscli VOLUME}. */
        Declaration<T> changedBy(String command) {
            changedBy = command;
            return this;
        }

        Declaration<T> required() {
            required = true;
            return this;
        }

        /** A volume may be without a value; a report then has {@code inReport}, or nothing. */
        Declaration<T> mayBeAbsent(@Nullable Object inReport) {
            absent = true;
            absentInReport = inReport;
            return this;
        }

        /** The file of a release before may lack it. */
        Declaration<T> added() {
            added = true;
            return this;
        }

        /** Ends the declaration with the text of the help. */
        VolumeOption<T> text(String text) {
            return new VolumeOption<>(this, text);
        }
    }
}
