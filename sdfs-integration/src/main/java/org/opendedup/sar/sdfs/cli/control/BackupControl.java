package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.sdfs.cli.command.ControlArguments;
import org.opendedup.sar.sdfs.cli.command.PathWalk;
import org.opendedup.sar.sdfs.cli.report.BackupText;
import org.opendedup.sar.volume.backup.MetadataBackups;

/** The daemon's side of {@code sdfscli VOLUME metadata-backup}. */
public final class BackupControl {
    public static final String COMMAND = "metadata-backup";
    public static final String LIST = "list";
    public static final String MAKE = "make";

    private final MetadataBackups backups;
    private final Map<String, Path> stores;
    private final @Nullable Path mountPoint;

    /**
     * @param stores the volume's own folders, by what they are for
     * @param mountPoint where it is mounted; null if that is not known
     */
    public BackupControl(MetadataBackups backups, Map<String, Path> stores, @Nullable Path mountPoint) {
        this.backups = backups;
        this.stores = stores;
        this.mountPoint = mountPoint;
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
        if (!folder.isAbsolute()) {
            throw new IOException(folder + " is no absolute path");
        }
        checkApart(folder);
        return BackupText.values(backups.backUpTo(folder), false);
    }

    /** A copy in the volume is lost with its metadata, and what holds the volume's own files takes no others. */
    private void checkApart(Path folder) throws IOException {
        PathWalk walk = PathWalk.to(folder);
        if (mountPoint != null && walk.meets(mountPoint)) {
            throw new IOException(folder + " lies in the volume itself, and would be lost with its metadata;"
                    + " choose a folder outside it");
        }
        for (Map.Entry<String, Path> store : stores.entrySet()) {
            if (walk.meets(store.getValue())) {
                throw new IOException(folder + " lies in the " + store.getKey() + " " + store.getValue()
                        + ", which is for the volume's own files; choose a folder outside it");
            }
        }
    }

    private Map<String, Object> list() throws IOException {
        List<Object> all = new ArrayList<>();
        for (Backup backup : backups.list()) {
            all.add(BackupText.values(backup, backups.isOlderThanCollection(backup)));
        }
        var reply = new LinkedHashMap<String, Object>();
        reply.put("folder", backups.folder().toString());
        reply.put("failures", backups.failures());
        reply.put("backups", all);
        return reply;
    }
}
