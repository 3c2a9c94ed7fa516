package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.report.BackupText;
import org.opendedup.sar.volume.backup.MetadataBackups;

/** The daemon's side of {@code sdfscli VOLUME metadata-backup}. */
public final class BackupControl {
    public static final String COMMAND = "metadata-backup";
    public static final String LIST = "list";
    public static final String MAKE = "make";

    private final MetadataBackups backups;
    private final BackupTargets targets;

    /** @param targets makes copies */
    public BackupControl(BackupTargets targets) {
        this.targets = targets;
        backups = targets.backups();
    }

    /** @throws IOException if the command fails; the message is for the client */
    public Map<String, Object> answer(Map<String, Object> request) throws IOException {
        var arguments = new ControlArguments(request);
        String action = arguments.text("action");
        if (action.equals(LIST)) {
            arguments.end();
            return list();
        }
        if (!action.equals(MAKE)) {
            throw new IOException("the daemon knows no action '" + action + "' of " + COMMAND);
        }
        Path folder = Path.of(arguments.text("folder"));
        arguments.end();
        MetadataBackups.Copy copy = targets.copyTo(folder);
        Map<String, Object> made = BackupText.values(copy.backup(), false);
        made.put("folder", copy.folder());
        made.put("mended", copy.mended());
        return made;
    }

    private Map<String, Object> list() throws IOException {
        Map<String, Object> reply = BackupText.values(backups.automatic());
        reply.put("failures", backups.failures());
        return reply;
    }
}
