package org.opendedup.sar.metadata.remote;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;

/**
 * Lines of ASCII that end with their checksum: {@code MAGIC VERSION}, lines of a word and its values, {@code hmac HEX}
 * if the volume is encrypted, {@code crc HEX}.
 */
final class TextFile {
    private static final String HMAC = "hmac ";
    private static final String CRC = "crc ";

    private TextFile() {}

    /** Writes lines. */
    static final class Writer {
        private final StringBuilder text = new StringBuilder();

        Writer(String magic, int version) {
            line("%s %d", magic, version);
        }

        Writer line(String format, Object... values) {
            text.append(String.format(Locale.ROOT, format, values)).append('\n');
            return this;
        }

        Writer point(ChainPoint point) {
            return line(
                    "point %d %016x %d %08x %d",
                    point.owner().lease(), point.owner().token(), point.number(), point.crc(), point.sequence());
        }

        /** @param authenticates of an encrypted volume; null: it is not encrypted */
        byte[] end(@Nullable KeyedHash authenticates) {
            if (authenticates != null) {
                line(HMAC + "%s", hmac(text.toString(), authenticates));
            }
            line(CRC + "%08x", crc(text.toString()));
            return text.toString().getBytes(US_ASCII);
        }
    }

    /** Reads lines, one after the other. */
    static final class Reader {
        private final String place;
        private final Iterator<String> lines;
        private String line = "";

        /**
         * Checks checksum and version.
         *
         * @param place names the file in messages
         */
        Reader(byte[] bytes, String place, String magic, int version, @Nullable KeyedHash authenticates)
                throws CorruptionException, UnsupportedFormatException {
            this.place = place;
            String text = new String(bytes, US_ASCII);
            String first = magic + " ";
            String found =
                    text.startsWith(first) ? text.substring(first.length()).split("\n", 2)[0] : "";
            if (!found.matches("\\d{1,6}")) {
                throw damaged();
            }
            if (Integer.parseInt(found) != version) {
                throw new UnsupportedFormatException(place, Integer.parseInt(found), version);
            }
            text = withoutLast(text, CRC, rest -> String.format(Locale.ROOT, "%08x", crc(rest)));
            if (authenticates != null) {
                text = withoutLast(text, HMAC, rest -> hmac(rest, authenticates));
            }
            lines = List.of(text.split("\n")).iterator();
            lines.next();
        }

        private interface Sum {
            String of(String text);
        }

        private String withoutLast(String text, String begin, Sum sum) throws CorruptionException {
            int last = text.lastIndexOf("\n" + begin) + 1;
            String rest = text.substring(0, last);
            byte[] found = text.substring(last).getBytes(US_ASCII);
            if (last == 0 || !MessageDigest.isEqual(found, (begin + sum.of(rest) + "\n").getBytes(US_ASCII))) {
                throw damaged();
            }
            return rest;
        }

        /** Moves to the next line; returns false at the end. */
        boolean next() {
            line = lines.hasNext() ? lines.next() : "";
            return !line.isEmpty();
        }

        /** Returns whether the line begins with a word. */
        boolean is(String word) {
            return line.startsWith(word + " ");
        }

        /** Returns the values of a line, which must begin with {@code word}. */
        String[] values(String word, int count) throws CorruptionException {
            String[] values =
                    line.substring(Math.min(line.length(), word.length() + 1)).split(" ", -1);
            if (!is(word) || values.length != count) {
                throw damaged();
            }
            return values;
        }

        /** Moves to the next line and returns its values. */
        String[] next(String word, int count) throws CorruptionException {
            next();
            return values(word, count);
        }

        UUID nextVolume() throws CorruptionException {
            String value = next("volume", 1)[0];
            try {
                return UUID.fromString(value);
            } catch (IllegalArgumentException e) {
                throw damaged();
            }
        }

        ChainPoint nextPoint() throws CorruptionException {
            String[] values = next("point", 5);
            return new ChainPoint(
                    new Owner(number(values[0]), hex(values[1])),
                    number(values[2]),
                    (int) hex(values[3]),
                    number(values[4]));
        }

        long number(String value) throws CorruptionException {
            if (!value.matches("\\d{1,18}")) {
                throw damaged();
            }
            return Long.parseLong(value);
        }

        long hex(String value) throws CorruptionException {
            if (!value.matches("[0-9a-f]{1,16}")) {
                throw damaged();
            }
            return Long.parseUnsignedLong(value, 16);
        }

        CorruptionException damaged() {
            return new CorruptionException(place, -1, "lines with their checksum", "something else");
        }
    }

    private static String hmac(String text, KeyedHash authenticates) {
        return HexFormat.of().formatHex(authenticates.hash(text.getBytes(US_ASCII)));
    }

    static int crc(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(US_ASCII));
        return (int) crc.getValue();
    }
}
