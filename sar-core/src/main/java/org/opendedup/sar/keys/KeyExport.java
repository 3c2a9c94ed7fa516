package org.opendedup.sar.keys;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * A master key in a form that can be printed, and typed again: for a safe. Each line of digits ends with a checksum of
 * its own, so that a wrong digit is found where it is.
 *
 * @param master the master key; {@link #close} overwrites it
 */
public record KeyExport(UUID volume, AeadCipher cipher, byte[] master) implements AutoCloseable {
    private static final Pattern VOLUME = Pattern.compile("(?m)^volume +([0-9a-f-]{36})\\s*$");
    private static final Pattern CIPHER = Pattern.compile("(?m)^cipher +(\\S+)\\s*$");
    private static final Pattern LINE = Pattern.compile("(?m)^key ([1-4]) +([0-9a-fA-F ]+?) *- *([0-9a-fA-F]{4})\\s*$");
    private static final int LINES = 4;
    private static final int LINE_BYTES = VolumeKeys.KEY_BYTES / LINES;
    private static final int GROUP_DIGITS = 4;

    /** @param name of the volume, for people */
    public String text(String name, Instant now) {
        var text = new StringBuilder(String.format(
                "Master key of the volume %s, exported %s.%n"
                        + "Whoever has it can read every byte of the volume, whatever its passphrases are.%n"
                        + "sdfscli %s key add --from-export FILE makes a slot from this file.%n%n"
                        + "volume  %s%ncipher  %s%n",
                name, now.truncatedTo(ChronoUnit.SECONDS), name, volume, cipher));
        HexFormat hex = HexFormat.of();
        for (int line = 0; line < LINES; line++) {
            String digits = hex.formatHex(master, line * LINE_BYTES, (line + 1) * LINE_BYTES);
            text.append("key ").append(line + 1).append(' ');
            for (int at = 0; at < digits.length(); at += GROUP_DIGITS) {
                text.append(' ').append(digits, at, at + GROUP_DIGITS);
            }
            text.append(String.format(" - %04x%n", checksum(line)));
        }
        return text.toString();
    }

    /** Returns 16 bits of the CRC-32C of volume, cipher, number of the line and its bytes. */
    private int checksum(int line) {
        CRC32C crc = new CRC32C();
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES + 2 + LINE_BYTES)
                .putLong(volume.getMostSignificantBits())
                .putLong(volume.getLeastSignificantBits())
                .put((byte) cipher.ordinal())
                .put((byte) line)
                .put(master, line * LINE_BYTES, LINE_BYTES);
        crc.update(bytes.array());
        Arrays.fill(bytes.array(), (byte) 0);
        return (int) crc.getValue() & 0xffff;
    }

    /** @throws IOException if it is no export, or a digit is wrong; names the line */
    public static KeyExport parse(String text) throws IOException {
        Matcher volume = VOLUME.matcher(text);
        Matcher cipher = CIPHER.matcher(text);
        if (!volume.find() || !cipher.find()) {
            throw new IOException("this is no exported master key: it has no line 'volume', or none 'cipher'");
        }
        byte[] master = new byte[VolumeKeys.KEY_BYTES];
        int[] checksums = new int[LINES];
        int found = 0;
        for (Matcher line = LINE.matcher(text); line.find(); ) {
            int at = Integer.parseInt(line.group(1)) - 1;
            String digits = line.group(2).replace(" ", "").toLowerCase(Locale.ROOT);
            if (digits.length() == 2 * LINE_BYTES) {
                System.arraycopy(HexFormat.of().parseHex(digits), 0, master, at * LINE_BYTES, LINE_BYTES);
                checksums[at] = Integer.parseInt(line.group(3), 16);
                found |= 1 << at;
            }
        }
        var export = new KeyExport(uuid(volume.group(1)), cipher(cipher.group(1)), master);
        for (int line = 0; line < LINES; line++) {
            if ((found & 1 << line) == 0) {
                throw new IOException("the line 'key " + (line + 1) + "' is missing, or has not " + 2 * LINE_BYTES
                        + " digits and a checksum of four");
            }
            if (export.checksum(line) != checksums[line]) {
                throw new IOException("the line 'key " + (line + 1)
                        + "', or the volume or the cipher above, has a wrong digit: its checksum does not fit");
            }
        }
        return export;
    }

    private static UUID uuid(String text) throws IOException {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw new IOException("'" + text + "' is no volume's number", e);
        }
    }

    private static AeadCipher cipher(String name) throws IOException {
        return Arrays.stream(AeadCipher.values())
                .filter(cipher -> cipher.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException("there is no cipher '" + name + "'"));
    }

    @Override
    public void close() {
        Arrays.fill(master, (byte) 0);
    }

    /** Returns no digit of the key. */
    @Override
    public String toString() {
        return "the master key of volume " + volume;
    }
}
