package org.opendedup.sar.metadata.record;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Locale;
import org.opendedup.sar.common.CorruptionException;

/**
 * The keys of the records of one kind that have numbers, in the family {@code system}: a name, a space, and the number
 * as 16 hexadecimal digits. They lie together, in the order of the numbers as unsigned ones.
 */
public final class NumberedKeys {
    private static final int DIGITS = 16;

    private final String name;
    private final String meaning;

    /** @param meaning whose numbers they are, for a message, such as "a snapshot" */
    public NumberedKeys(String name, String meaning) {
        this.name = name;
        this.meaning = meaning;
    }

    /** Returns a key below those of all numbers. */
    public byte[] first() {
        return Keys.of(name + ' ');
    }

    /** Returns a key above those of all numbers: {@code !} follows the space. */
    public byte[] end() {
        return Keys.of(name + '!');
    }

    public byte[] of(long number) {
        return Keys.of(String.format(Locale.ROOT, "%s %016x", name, number));
    }

    /** Returns the number in a key between {@link #first} and {@link #end}. */
    public long number(byte[] key) throws CorruptionException {
        String text = new String(key, US_ASCII);
        int begin = name.length() + 1;
        if (text.length() == begin + DIGITS) {
            try {
                return Long.parseUnsignedLong(text, begin, text.length(), DIGITS);
            } catch (NumberFormatException e) {
                // Other characters than digits: as below.
            }
        }
        throw new CorruptionException("metadata database", -1, "the number of " + meaning, text);
    }
}
