package org.opendedup.sar.sdfs.config;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Compression;

/** Values of options. Immutable. */
public record OptionValues(Map<VolumeOption<?>, Object> values) {
    /** No values: each option has its default. */
    public static final OptionValues NONE = new OptionValues(Map.of());

    private static final int ZSTD_LEVEL = 1;
    private static final long FRAME_BYTES = 64 << 10;

    public OptionValues {
        values = Map.copyOf(values);
    }

    /** Returns whether the option was given a value. */
    public boolean isSet(VolumeOption<?> option) {
        return values.containsKey(option);
    }

    /** Returns the value that was given; else the default; empty if there is none. */
    @SuppressWarnings("unchecked") // Only with() puts values, of the option's type.
    public <T> Optional<T> find(VolumeOption<T> option) {
        T value = (T) values.get(option);
        return value == null ? option.byDefault() : Optional.of(value);
    }

    /** @throws IllegalArgumentException if it was given no value and has no default */
    public <T> T get(VolumeOption<T> option) {
        return find(option).orElseThrow(() -> new IllegalArgumentException(option + " is missing"));
    }

    /**
     * Returns these values with another one.
     *
     * @param value null: none
     * @throws IllegalArgumentException if the value is not allowed; the message names the option and what is allowed
     */
    public <T> OptionValues with(VolumeOption<T> option, @Nullable T value) {
        try {
            return put(option, value == null ? null : option.parse(option.print(value)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(option + ": " + e.getMessage(), e);
        }
    }

    private OptionValues put(VolumeOption<?> option, @Nullable Object value) {
        var changed = new LinkedHashMap<VolumeOption<?>, Object>(values);
        if (value == null) {
            changed.remove(option);
        } else {
            changed.put(option, value);
        }
        return new OptionValues(changed);
    }

    /** Returns these values; with {@code value} if the option was given none. */
    public <T> OptionValues orElse(VolumeOption<T> option, T value) {
        return isSet(option) ? this : with(option, value);
    }

    /** Returns these values with the one that others have of an option; without one if they have none. */
    OptionValues withOf(VolumeOption<?> option, OptionValues others) {
        return put(option, others.values.get(option));
    }

    /** Returns these values with folders below {@code base}, where none were given. */
    public OptionValues inFolder(Path base) {
        return orElse(VolumeOptions.BASE_PATH, base)
                .orElse(VolumeOptions.DATA_LOCATION, base.resolve("chunkstore/chunks"))
                .orElse(VolumeOptions.METADATA_LOCATION, base.resolve("ddb"))
                .orElse(VolumeOptions.INDEX_LOCATION, base.resolve("chunkstore/hdb"));
    }

    /** As {@link #with}, of the text that {@link VolumeOption#parse} reads; its exception does not name the option. */
    public <T> OptionValues withText(VolumeOption<T> option, String text) {
        return put(option, option.parse(text));
    }

    /** As {@link #with}, of a value in JSON. */
    <T> OptionValues withJson(VolumeOption<T> option, @Nullable Object value) {
        return put(option, option.ofJson(value));
    }

    /** Returns the text of a value; null if there is none. */
    public <T> @Nullable String text(VolumeOption<T> option) {
        return find(option).map(option::print).orElse(null);
    }

    /** Returns the value for a report; null if it has none. */
    public <T> @Nullable Object json(VolumeOption<T> option) {
        return find(option).map(option::json).orElse(option.absentInReport());
    }

    /** As below, with the default level, and frames of the default size. */
    public OptionValues compressed() {
        return compressed(ZSTD_LEVEL, FRAME_BYTES);
    }

    /**
     * Returns these values with those that the volume file has for the choice of compression.
     *
     * @param zstdLevel level of zstd if the choice has none
     * @param frameBytes bytes of a frame before compression
     */
    public OptionValues compressed(int zstdLevel, long frameBytes) {
        CompressionChoice choice = get(VolumeOptions.COMPRESSION);
        int level = choice.codec() == Compression.Codec.ZSTD ? choice.level().orElse(zstdLevel) : 0;
        return with(VolumeOptions.CODEC, choice.codec())
                .with(VolumeOptions.CODEC_LEVEL, level)
                .with(VolumeOptions.FRAME_SIZE, frameBytes);
    }

    /**
     * Returns what the volume file keeps, with the defaults of what was not given.
     *
     * @throws IllegalArgumentException if an option that a volume needs has no value
     */
    OptionValues stored() {
        OptionValues complete = NONE;
        for (VolumeOption<?> option : VolumeOptions.ALL) {
            if (option.isStored() && (!option.mayBeAbsent() || isSet(option))) {
                complete = complete.put(option, get(option));
            }
        }
        return complete;
    }
}
