package org.opendedup.sar.metadata.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;

/** The names of the files in a folder of backups. What has another name is never written, moved or removed. */
public final class BackupNames {
    /** Ends the name of a file that is being written; it gets its name when its bytes are durable. */
    static final String NEW = ".new";
    /** Ends the name of a file that was found damaged: it is as good as missing. */
    static final String DAMAGED = ".damaged";

    private static final Pattern LIST = Pattern.compile("(\\d{6,18})\\.backup");
    private static final Pattern TABLE = Pattern.compile("table-\\d{1,18}-\\d{1,19}-[0-9a-f]{32}\\.sst");
    private static final Pattern FILE = Pattern.compile("file-(\\d{6,18})-[A-Za-z0-9][A-Za-z0-9._-]*");

    /** Bytes at the end of a table that identify it: its properties lie there, which take about two kilobytes. */
    private static final int TAIL_BYTES = 16 << 10;

    private BackupNames() {}

    static String list(long number) {
        return String.format(Locale.ROOT, "%06d.backup", number);
    }

    static boolean isList(String name) {
        return LIST.matcher(name).matches();
    }

    /** Returns the number of the backup whose list has this name. */
    static long numberOf(String list) {
        Matcher matcher = LIST.matcher(list);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(list + " is no list of a backup");
        }
        return Long.parseLong(matcher.group(1));
    }

    public static boolean isTableOfDatabase(String name) {
        return name.endsWith(".sst");
    }

    /** Returns the name in this folder of a file of a database. */
    static String stored(Directory database, String name, long backup) throws IOException {
        return isTableOfDatabase(name)
                ? table(database, name)
                : String.format(Locale.ROOT, "file-%06d-%s", backup, name);
    }

    public static String table(Directory database, String name) throws IOException {
        try (Input input = database.open(name)) {
            long bytes = input.length();
            byte[] tail = new byte[(int) Math.min(bytes, TAIL_BYTES)];
            input.readFully(bytes - tail.length, ByteBuffer.wrap(tail));
            String hash = HexFormat.of().formatHex(Sha256.newDigest().digest(tail), 0, 16);
            return "table-" + name.replace(".sst", "") + "-" + bytes + "-" + hash + ".sst";
        }
    }

    /** Returns whether it is the name of a table, which several backups may have. */
    static boolean isTable(String name) {
        return TABLE.matcher(name).matches();
    }

    /** Returns whether a backup may have a file of this name. */
    static boolean isStored(String name) {
        return isTable(name) || FILE.matcher(name).matches() && !name.endsWith(NEW) && !name.endsWith(DAMAGED);
    }

    /** Returns whether it is a file of the backup with this list, and of no other. */
    static boolean isFileOf(String list, String name) {
        Matcher matcher = FILE.matcher(name);
        return matcher.matches() && Long.parseLong(matcher.group(1)) == numberOf(list);
    }

    /** Returns whether it is what an interrupted writing of a file has left. */
    static boolean isUnfinished(String name) {
        String finished = without(NEW, name);
        return !finished.equals(name) && (isList(finished) || isStored(finished));
    }

    /** Returns the name without what it ends with; the whole name if it ends otherwise. */
    static String without(String end, String name) {
        return name.endsWith(end) ? name.substring(0, name.length() - end.length()) : name;
    }
}
