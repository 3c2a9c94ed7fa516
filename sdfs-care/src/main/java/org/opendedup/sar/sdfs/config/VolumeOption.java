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
    private final String name;
    private final String xml;
    private final String key;
    private final OptionKind<T> kind;
    // What follows is set where the option is declared, before anyone can use it.
    private @Nullable T byDefault;
    private String defaultText = "";
    private String changedBy = "";
    private String ofPlugin = "";
    private String defaultOfPlugin = "";
    private String text = "";
    private @Nullable T least;
    private @Nullable T most;
    private boolean atNextMount;
    private boolean absent;
    private boolean added;
    private boolean ofMachine;
    private @Nullable Object absentInReport;

    /**
     * Begins the declaration of an option.
     *
     * @param name its name for {@code mkfs.sdfs}, with dashes; empty: it has none
     * @param xml its place in the volume file, {@code element/attribute}; empty: it only decides about others
     * @param key its name in reports, for the control socket and in JMX, after that of its part, such as
     *     {@code sar.maxRunBytes}; empty: it is reported with another option
     */
    VolumeOption(String name, String xml, String key, OptionKind<T> kind) {
        this.name = name;
        this.xml = xml;
        this.key = key;
        this.kind = kind;
    }

    /** Returns the name for mkfs.sdfs, with dashes; empty if it has none. */
    public String name() {
        return name;
    }

    /** Returns whether the volume file has it. */
    public boolean isStored() {
        return !xml.isEmpty();
    }

    /** Returns the path of its element in the volume file. */
    String element() {
        return xml.substring(0, xml.lastIndexOf('/'));
    }

    String attribute() {
        return xml.substring(xml.lastIndexOf('/') + 1);
    }

    /** Returns the name of its part of a report; empty for the volume itself. */
    public String part() {
        return key.substring(0, Math.max(0, key.indexOf('.')));
    }

    /** Returns its name in reports, for the control socket and in JMX; empty if it is reported with another option. */
    public String key() {
        return key.substring(key.indexOf('.') + 1);
    }

    /** Returns what stands for the value in the help; empty if it has none and is true by being named. */
    public String label() {
        return kind.label();
    }

    /** Returns the value if it is not given; empty if there is none, or it depends on others. */
    public Optional<T> byDefault() {
        return Optional.ofNullable(byDefault);
    }

    /** Returns the value if it is not given, in words; empty if there is none. */
    public String defaultText() {
        return defaultText.isEmpty() && label().length() > 0
                ? byDefault().map(this::print).orElse("")
                : defaultText;
    }

    /** Returns what the option does, with the unit of its value. */
    public String text() {
        return text;
    }

    /** Returns the command that changes it in a mounted volume, such as {@code sar set --max-run}; empty: none. */
    public String changedBy() {
        return changedBy;
    }

    /** Returns whether a change takes effect at the next mount only. */
    public boolean isOfNextMount() {
        return atNextMount;
    }

    /** Returns the attribute by which the plugin for SDFS has it, such as {@code sar-policy}; empty: it has none. */
    public String ofPlugin() {
        return ofPlugin;
    }

    /** Returns the value that the plugin takes if it is not given, in words; empty if there is none. */
    public String defaultOfPlugin() {
        return defaultOfPlugin.isEmpty() ? defaultText() : defaultOfPlugin;
    }

    /** Returns whether a volume may be without a value. */
    boolean mayBeAbsent() {
        return absent;
    }

    /** Returns whether the file of a release before may lack it, and then means the default. */
    boolean isAdded() {
        return added;
    }

    /**
     * Returns whether each machine that mounts a volume in an object store has its own value. The others are the same
     * everywhere.
     */
    boolean isOfMachine() {
        return ofMachine;
    }

    /** Returns what a report has in place of a missing value; null: nothing. */
    public @Nullable Object absentInReport() {
        return absentInReport;
    }

    /** Returns the smallest allowed value; empty: no bound. */
    public Optional<T> least() {
        return Optional.ofNullable(least);
    }

    /** Returns the largest allowed value; empty: no bound. */
    public Optional<T> most() {
        return Optional.ofNullable(most);
    }

    /** Returns the only allowed texts; empty if there are many. */
    public List<String> choices() {
        return kind.choices();
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
        return kind.parser().apply(value);
    }

    private void checkRange(Number value, String shown) {
        boolean low = least instanceof Number least && value.doubleValue() < least.doubleValue();
        boolean high = most instanceof Number most && value.doubleValue() > most.doubleValue();
        if (low || high || Double.isNaN(value.doubleValue())) {
            throw new IllegalArgumentException(shown + "; it must be " + range());
        }
    }

    /** Returns the text that {@link #parse} reads. */
    public String print(T value) {
        return kind.printer().apply(value);
    }

    /** Returns a number, a boolean or a text. */
    public Object json(T value) {
        return kind.json().apply(value);
    }

    /**
     * Returns the value that {@link #json} returned.
     *
     * @throws IllegalArgumentException if it is not of the type, or not allowed; the message names the option
     */
    T ofJson(@Nullable Object value) {
        Object sample = json(Objects.requireNonNull(byDefault == null ? least : byDefault));
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
        return name().isEmpty() ? xml : name();
    }

    VolumeOption<T> byDefault(T value) {
        byDefault = value;
        return this;
    }

    /** Says in words what the value is if it is not given. */
    VolumeOption<T> byDefaultAs(String words) {
        defaultText = words;
        return this;
    }

    VolumeOption<T> from(T bound) {
        least = bound;
        return this;
    }

    VolumeOption<T> to(T bound) {
        most = bound;
        return this;
    }

    /** Names the command that changes it in a mounted volume, without {@code sdfscli VOLUME}. */
    VolumeOption<T> changedBy(String command) {
        changedBy = command;
        return this;
    }

    /** A change takes effect at the next mount only: what depends on it is made when the volume is opened. */
    VolumeOption<T> atNextMount() {
        atNextMount = true;
        return this;
    }

    /** Names the attribute of {@code <extended-config>} by which the plugin for SDFS has it. */
    VolumeOption<T> inPlugin(String attribute) {
        ofPlugin = attribute;
        return this;
    }

    /** As above, and says in words what the value is if it is not given there. */
    VolumeOption<T> inPlugin(String attribute, String byDefault) {
        defaultOfPlugin = byDefault;
        return inPlugin(attribute);
    }

    /** A volume may be without a value; a report then has {@code inReport}, or nothing. */
    VolumeOption<T> mayBeAbsent(@Nullable Object inReport) {
        absent = true;
        absentInReport = inReport;
        return this;
    }

    /** The file of a release before may lack it. */
    VolumeOption<T> added() {
        added = true;
        return this;
    }

    /** Each machine that mounts a volume in an object store has its own value. */
    VolumeOption<T> ofMachine() {
        ofMachine = true;
        return this;
    }

    /** Sets the text of the help. */
    VolumeOption<T> text(String words) {
        text = words;
        return this;
    }
}
