package org.opendedup.sar.sdfs.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.opendedup.sar.sdfs.cli.SdfsCli;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.daemon.MountService;
import org.opendedup.sar.sdfs.cli.daemon.ServiceManager;
import org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/** The daemon of a volume {@code pool0}, within this process, and commands that ask it. */
public final class RunningDaemon implements AutoCloseable {
    private final Path folder;
    private final VolumeDaemon daemon;
    private final FutureTask<Void> serving;
    private CommandOutput output;

    /** Returns when the volume is mounted, as {@code service} does that. */
    public RunningDaemon(Path folder, MountService service) throws IOException, InterruptedException {
        this(folder, Definitions.plain("pool0", folder.resolve("base")), service);
    }

    /** As the other one, with another definition of {@code pool0}. */
    public RunningDaemon(Path folder, VolumeDefinition definition, MountService service)
            throws IOException, InterruptedException {
        this(folder, definition, service, Map.of());
    }

    /** As the other one, with further handlers of its control socket. */
    public RunningDaemon(
            Path folder, VolumeDefinition definition, MountService service, Map<String, ControlServer.Handler> commands)
            throws IOException, InterruptedException {
        this.folder = folder;
        output = new CommandOutput(folder);
        Path volumeFile = new ConfigDirectory(folder).fileOf("pool0");
        VolumeFile.write(volumeFile, definition);
        RunFiles files = new RunFiles(definition, RunFiles.runFolder(definition));
        daemon = new VolumeDaemon(volumeFile, files, mountPoint(), "", service, null, ServiceManager.NONE, commands);
        serving = new FutureTask<>(() -> {
            daemon.serve(() -> {});
            return null;
        });
        new Thread(serving, "serve").start();
        while (!ControlSocket.ping(files.socket())
                .map(state -> state.get("state"))
                .equals(Optional.of("mounted"))) {
            assertFalse(serving.isDone(), "the daemon ended early");
            Thread.sleep(5);
        }
    }

    public Path mountPoint() {
        return folder.resolve("mnt");
    }

    /** Runs {@code sdfscli pool0} with these arguments. */
    public int cli(String... arguments) {
        var all = new ArrayList<>(List.of("pool0"));
        all.addAll(List.of(arguments));
        output = new CommandOutput(folder);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), all.toArray(String[]::new));
    }

    /** What the last command printed. */
    public String out() {
        return output.out();
    }

    /** What it said on the error stream. */
    public String err() {
        return output.err();
    }

    /** Runs a command that must succeed, and returns what it printed as JSON. */
    public Map<String, Object> json(String... arguments) throws IOException {
        int code = cli(Stream.concat(Stream.of(arguments), Stream.of("--json")).toArray(String[]::new));
        assertEquals(0, code, err());
        return Json.read(out());
    }

    /** Checks that the last command printed all of these. */
    public void shows(String... parts) {
        for (String part : parts) {
            assertTrue(out().contains(part), () -> part + " is not in\n" + out());
        }
    }

    @Override
    public void close() throws ExecutionException, InterruptedException {
        daemon.requestStop();
        serving.get();
    }
}
