package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.RollbackEffect;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ProgressLine;
import org.opendedup.sar.sdfs.cli.control.SnapshotControl;
import org.opendedup.sar.sdfs.cli.report.RollbackReport;
import org.opendedup.sar.sdfs.keys.SecretSource;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.snapshot.VolumeRollback;

/**
 * Rolls a volume back that is not mounted: opens it in this process, asks for the rollback, closes it, and opens it
 * again, which rolls it back.
 *
 * @param discards whether no snapshot of the present state is made first
 */
record SnapshotRollback(VolumeClient cli, String snapshot, boolean discards) {
    private static final DateTimeFormatter KEPT = DateTimeFormatter.ofPattern(
                    "'before-rollback-'yyyy.MM.dd-HH.mm.ss", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** @param changesNothing whether only to tell what a rollback would do */
    RollbackReport run(SecretSource secrets, boolean changesNothing) throws IOException, CommandFailedException {
        String instead = "While it is mounted, a folder is brought back under another name by: sdfscli " + cli.name()
                + " clone .snapshots/NAME/FOLDER NEW";
        return new UnmountedVolume(cli)
                .use(secrets, instead, config -> changesNothing ? look(config) : rollBack(config));
    }

    private @Nullable String kept() {
        return discards ? null : KEPT.format(Instant.now());
    }

    private RollbackReport look(VolumeConfig config) throws IOException {
        try (Volume volume = Volume.openReadOnly(config, Verification.CHECKSUMS)) {
            RollbackEffect effect = volume.rollback().effect(snapshot);
            return RollbackReport.of(snapshot, kept(), effect, true);
        }
    }

    private RollbackReport rollBack(VolumeConfig config) throws IOException {
        RollbackReport done;
        if (discards && VolumeRollback.turn(config, snapshot)) {
            done = RollbackReport.ofTurned(snapshot);
        } else {
            try (Volume volume = Volume.open(config, Verification.CHECKSUMS)) {
                String kept = kept();
                RollbackEffect effect = volume.rollback().begin(snapshot, kept);
                done = RollbackReport.of(snapshot, effect.isNone() ? null : kept, effect, false);
            }
        }
        var line = new ProgressLine(cli.environment());
        Progress progress = cli.json ? Progress.NONE : line::at;
        Volume.open(config, Verification.CHECKSUMS, progress).close();
        line.clear();
        note(done);
        return done;
    }

    private void note(RollbackReport done) throws IOException {
        var arguments = new LinkedHashMap<String, Object>();
        arguments.put("action", SnapshotControl.ROLLBACK);
        arguments.put("snapshot", snapshot);
        arguments.put("kept", done.kept());
        new UnmountedVolume(cli).note(SnapshotControl.COMMAND, arguments);
    }
}
