package org.opendedup.sar.plugin.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.audit.AuditLog;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the commands of sdfscli in SDFS's process. */
final class CareControl {
    private static final Logger log = LoggerFactory.getLogger(CareControl.class);

    private CareControl() {}

    /**
     * Begins to answer. The volume is open, so no other process of this volume listens.
     *
     * @param volume name of the volume in SDFS's volume file, by which commands name it
     * @param audit records what changes something
     * @return null if no command can reach the process, which is no reason not to mount
     */
    static @Nullable ControlServer begin(String volume, Path socket, Map<String, Handler> handlers, AuditLog audit) {
        try {
            PrivateFiles.createFolders(Objects.requireNonNull(socket.getParent()));
            var control = ControlServer.start(socket, Map.of(), command -> PluginCommands.refusal(volume));
            control.audit(Set.of(), audit::request);
            control.add(handlers);
            return control;
        } catch (IOException e) {
            log.warn("sdfscli cannot ask the volume {}, only JMX can: {}", volume, FailureText.of(e));
            return null;
        }
    }
}
