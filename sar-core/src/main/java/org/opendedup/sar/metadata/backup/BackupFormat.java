package org.opendedup.sar.metadata.backup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;

/** The list of a backup's files, as docs/FORMAT.md specifies it: lines of ASCII, of which the last has a checksum. */
final class BackupFormat {
    static final int VERSION = 2;

    /** A file's name in the database. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

    private static final String MAGIC = "SAR-METADATA-BACKUP";
    /** Begin of the line that authenticates those before it. */
    private static final String HMAC = "hmac ";

    private BackupFormat() {}

    /** @param authenticates of an encrypted volume; null: it is not encrypted */
    static byte[] encode(Backup backup, @Nullable KeyedHash authenticates) {
        BackupOrigin origin = backup.origin();
        Epoch epoch = origin.epoch();
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "%s %d\n", MAGIC, VERSION));
        text.append(String.format(Locale.ROOT, "number %d\n", backup.number()));
        text.append(String.format(Locale.ROOT, "epoch %s %d %016x\n", epoch.volume(), epoch.number(), epoch.token()));
        text.append(String.format(Locale.ROOT, "created %d\n", origin.createdNs()));
        text.append(String.format(Locale.ROOT, "changes %d\n", origin.changes()));
        text.append(String.format(Locale.ROOT, "collections %d\n", origin.collections()));
        for (BackupFile file : backup.files()) {
            text.append(String.format(
                    Locale.ROOT, "file %s %d %08x %s\n", file.name(), file.bytes(), file.crc(), file.stored()));
        }
        if (authenticates != null) {
            String hmac = hmac(authenticates, text.toString());
            text.append(HMAC).append(hmac).append('\n');
        }
        text.append(String.format(Locale.ROOT, "crc %08x\n", crc(text.toString())));
        return text.toString().getBytes(US_ASCII);
    }

    /** Returns whether a list that can be decoded is as who has the keys of the volume wrote it. */
    static boolean isAuthentic(byte[] bytes, KeyedHash authenticates) {
        String text = new String(bytes, US_ASCII);
        int line = text.lastIndexOf("\n" + HMAC) + 1;
        return line > 0
                && text.startsWith(hmac(authenticates, text.substring(0, line)) + "\ncrc ", line + HMAC.length());
    }

    private static String hmac(KeyedHash authenticates, String text) {
        return HexFormat.of().formatHex(authenticates.hash(text.getBytes(US_ASCII)));
    }

    /** @param place names the list in messages */
    static Backup decode(byte[] bytes, String place) throws CorruptionException, UnsupportedFormatException {
        String text = new String(bytes, US_ASCII);
        String[] lines = text.split("\n", -1);
        String[] first = lines[0].split(" ", -1);
        try {
            if (first.length == 2 && first[0].equals(MAGIC) && Integer.parseInt(first[1]) != VERSION) {
                throw new UnsupportedFormatException(place, Integer.parseInt(first[1]), VERSION);
            }
            int body = text.lastIndexOf("crc ");
            if (first.length != 2
                    || !first[0].equals(MAGIC)
                    || body < 0
                    || Integer.parseUnsignedInt(fields(text.substring(body).stripTrailing(), "crc", 1)[1], 16)
                            != crc(text.substring(0, body))) {
                throw damaged(place);
            }
            long number = Long.parseLong(fields(lines[1], "number", 1)[1]);
            String[] epoch = fields(lines[2], "epoch", 3);
            BackupOrigin origin = new BackupOrigin(
                    new Epoch(
                            UUID.fromString(epoch[1]), Long.parseLong(epoch[2]), Long.parseUnsignedLong(epoch[3], 16)),
                    Long.parseLong(fields(lines[3], "created", 1)[1]),
                    Long.parseLong(fields(lines[4], "changes", 1)[1]),
                    Long.parseLong(fields(lines[5], "collections", 1)[1]));
            List<BackupFile> files = new ArrayList<>();
            for (int line = 6; lines[line].startsWith("file "); line++) {
                files.add(file(fields(lines[line], "file", 4)));
            }
            return new Backup(number, origin, files);
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            CorruptionException damaged = damaged(place);
            damaged.initCause(e);
            throw damaged;
        }
    }

    /** A restore copies files by these names: they must not lead out of the folders. */
    private static BackupFile file(String[] fields) {
        if (!NAME.matcher(fields[1]).matches() || !BackupNames.isStored(fields[4])) {
            throw new IllegalArgumentException("'" + fields[1] + "' or '" + fields[4] + "' is no name of a file");
        }
        long bytes = Long.parseLong(fields[2]);
        if (bytes < 0) {
            throw new IllegalArgumentException("a file of " + bytes + " bytes");
        }
        return new BackupFile(fields[1], bytes, Integer.parseUnsignedInt(fields[3], 16), fields[4]);
    }

    private static String[] fields(String line, String name, int count) {
        String[] fields = line.split(" ", -1);
        if (fields.length != count + 1 || !fields[0].equals(name)) {
            throw new IllegalArgumentException("'" + line + "' is no line '" + name + "'");
        }
        return fields;
    }

    private static CorruptionException damaged(String place) {
        return new CorruptionException(place, -1, "the list of a backup's files", "something else");
    }

    private static int crc(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(US_ASCII));
        return (int) crc.getValue();
    }
}
