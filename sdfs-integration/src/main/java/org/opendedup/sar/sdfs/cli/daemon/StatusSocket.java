package org.opendedup.sar.sdfs.cli.daemon;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A second socket, which members of a group may open: it answers what only tells how the volume is, and nothing else.
 * The control socket stays in a folder of the volume's user alone. Only root's daemons have one, because only root can
 * give a socket to any group. A volume works without it.
 */
final class StatusSocket implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(StatusSocket.class);

    private final @Nullable ControlServer server;

    private StatusSocket(@Nullable ControlServer server) {
        this.server = server;
    }

    /**
     * Opens the socket of a volume.
     *
     * @param group name of the group; empty: nobody but root
     */
    static StatusSocket open(String volume, String group, ControlServer.Refusal refusal) {
        try {
            return new StatusSocket(group.isEmpty() || !CallingUser.isRoot() ? null : server(volume, group, refusal));
        } catch (UserPrincipalNotFoundException e) {
            LOG.info("there is no group '{}': nobody but root may read the status of {}", group, volume);
        } catch (IOException e) {
            LOG.warn("members of the group '{}' cannot read the status of {}: {}", group, volume, e.getMessage());
        }
        return new StatusSocket(null);
    }

    private static @Nullable ControlServer server(String volume, String group, ControlServer.Refusal refusal)
            throws IOException {
        GroupPrincipal members =
                FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByGroupName(group);
        Path socket = RunFiles.statusSocket(volume);
        Path folder = socket.resolveSibling("");
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder);
            // The process's umask is for the volume's folders.
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        PrivateFolder.at(folder).requireSafe();
        if (ControlSocket.ping(socket).isPresent()) {
            LOG.info("another volume of the name {} has {}", volume, socket);
            return null;
        }
        return ControlServer.startFor(members, socket, Map.of(), refusal);
    }

    /** Answers those of these commands that only tell how the volume is. */
    void add(Map<String, Handler> handlers) {
        if (server != null) {
            Map<String, Handler> ofStatus = new HashMap<>(handlers);
            ofStatus.keySet().retainAll(VolumeCommands.OF_STATUS);
            server.add(ofStatus);
        }
    }

    /** Answers these commands no more. */
    void remove(Set<String> commands) {
        if (server != null) {
            server.remove(commands);
        }
    }

    @Override
    public void close() throws IOException {
        if (server != null) {
            server.close();
        }
    }
}
