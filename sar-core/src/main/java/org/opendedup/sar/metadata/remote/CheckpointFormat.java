package org.opendedup.sar.metadata.remote;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.metadata.backup.BackupFile;

/** The list of a checkpoint's files, as docs/FORMAT.md specifies it. */
final class CheckpointFormat {
    static final int VERSION = 1;
    private static final String MAGIC = "SAR-METADATA-CHECKPOINT";
    /** A file's name in the database: it must not lead out of the folder. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

    private CheckpointFormat() {}

    static byte[] encode(Checkpoint checkpoint, @Nullable KeyedHash authenticates) {
        TextFile.Writer out = new TextFile.Writer(MAGIC, VERSION)
                .line("volume %s", checkpoint.volume())
                .point(checkpoint.point())
                .line("sequence %d", checkpoint.sequence())
                .line("ahead %d", checkpoint.isAhead() ? 1 : 0)
                .line("created %d", checkpoint.createdMs());
        for (BackupFile file : checkpoint.files()) {
            out.line("file %s %d %08x %s", file.name(), file.bytes(), file.crc(), file.stored());
        }
        return out.end(authenticates);
    }

    static Checkpoint decode(byte[] bytes, String place, @Nullable KeyedHash authenticates)
            throws CorruptionException, UnsupportedFormatException {
        TextFile.Reader in = new TextFile.Reader(bytes, place, MAGIC, VERSION, authenticates);
        UUID volume = in.nextVolume();
        ChainPoint point = in.nextPoint();
        long sequence = in.number(in.next("sequence", 1)[0]);
        boolean isAhead = in.number(in.next("ahead", 1)[0]) != 0;
        long createdMs = in.number(in.next("created", 1)[0]);
        List<BackupFile> files = new ArrayList<>();
        while (in.next()) {
            String[] values = in.values("file", 4);
            if (!NAME.matcher(values[0]).matches() || !ObjectNaming.isFile(values[3])) {
                throw in.damaged();
            }
            files.add(new BackupFile(values[0], in.number(values[1]), (int) in.hex(values[2]), values[3]));
        }
        return new Checkpoint(volume, point, sequence, isAhead, createdMs, files);
    }
}
