package org.opendedup.sar.sdfs.config;

import static org.opendedup.sar.sdfs.config.Checks.check;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.container.format.Compression;

/**
 * How hard collections compress containers anew, as {@code --chunk-store-recompress} names it.
 *
 * @param level zstd level, 1 to {@value #MAX}; 0: not at all
 */
public record RecompressLevel(int level) {
    /** Collections compress nothing anew that keeps all its chunks. */
    public static final RecompressLevel OFF = new RecompressLevel(0);

    /** Highest level. */
    public static final int MAX = 19;

    private static final Pattern SYNTAX = Pattern.compile("zstd:(\\d{1,2})");

    /** @throws IllegalArgumentException if the text is no such level; the message says what is allowed */
    public static RecompressLevel parse(String text) {
        if (text.equals("off")) {
            return OFF;
        }
        Matcher matcher = SYNTAX.matcher(text);
        int level = matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
        check(
                level >= 1 && level <= MAX,
                "'" + text + "' is no compression for collections; use off, or zstd:1 to zstd:" + MAX
                        + " such as zstd:9");
        return new RecompressLevel(level);
    }

    /** @throws IllegalArgumentException if it is not harder than the compression that is used for writing */
    public void checkAgainst(Compression writing) {
        check(
                level == 0 || writing.codec() != Compression.Codec.ZSTD || level > writing.level(),
                "collections cannot compress harder with " + this + ": what is written is compressed with zstd:"
                        + writing.level() + " already; use a higher level or off");
    }

    /** Returns the text that {@link #parse} takes. */
    @Override
    public String toString() {
        return level == 0 ? "off" : "zstd:" + level;
    }
}
