package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.FakeDaemon;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/**
 * Calls the helper with what mount(8) of util-linux was seen to hand on. Starts real daemon processes, around a fake
 * volume.
 */
@Timeout(60)
class MountHelperTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private CommandOutput output;
    private VolumeDefinition definition;
    private String mountPoint;

    @BeforeEach
    void makeAVolume() throws IOException {
        output = new CommandOutput(folder);
        definition = Definitions.plain("pool0", folder.resolve("base"));
        VolumeFile.write(new ConfigDirectory(folder).fileOf("pool0"), definition);
        Files.createDirectories(definition.config().locations().data());
        Files.createDirectories(definition.config().locations().metadata());
        Files.createDirectories(definition.config().locations().hashDb());
        mountPoint = Files.createDirectory(folder.resolve("mnt")).toString();
    }

    @AfterEach
    void endTheDaemon() throws IOException {
        daemon().ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void mountsInSilenceWithTheOptionsOfAnFstabLine() throws Exception {
        String fstab = "rw,relatime,noexec,nosuid,nodev,nofail,user,_netdev,x-systemd.automount,memory_budget=300MB";
        // FakeMountService does not open with noexec.
        assertEquals(0, help("pool0", mountPoint, "-o", fstab.replace("noexec,", "")), output.err());
        assertEquals("", output.out());
        String command = commandLineOf(daemon().orElseThrow());
        assertTrue(command.contains("-o rw,relatime,nosuid,nodev --memory-budget=314572800"), command);
    }

    @Test
    void aDryRunChecksAndStartsNothing() throws Exception {
        assertEquals(0, help("pool0", mountPoint, "-f", "-n", "-o", "rw"), output.err());
        assertEquals(Optional.empty(), daemon());
        assertEquals(
                MountHelper.MOUNT_FAILURE,
                help("pool0", folder.resolve("nowhere").toString(), "-f"));
        assertTrue(output.err().contains("does not exist"), output.err());
    }

    @Test
    void anUnknownOptionIsWrongUsageUnlessMountIsSloppy() {
        assertEquals(MountHelper.MOUNT_USAGE, help("pool0", mountPoint, "-f", "-o", "rw,colour=red"));
        assertTrue(output.err().contains("'colour' is not known"), output.err());
        assertEquals(0, help("pool0", mountPoint, "-s", "-f", "-o", "rw,colour=red"), output.err());
        assertTrue(output.err().contains("it is left out"), output.err());
    }

    @Test
    void aNameOfWhichMountMadeAPathIsStillAVolume() {
        assertEquals(0, help("/srv/pool0", mountPoint, "-f"), output.err());
        assertEquals(MountHelper.MOUNT_FAILURE, help("/srv/pool9", mountPoint, "-f"));
        assertTrue(output.err().contains("no volume 'pool9'"), output.err());
    }

    @Test
    void aRemountNeedsAMountOfOurs() {
        assertEquals(MountHelper.MOUNT_FAILURE, help("pool0", mountPoint, "-o", "ro,remount"));
        assertTrue(output.err().contains("no volume is mounted on " + mountPoint), output.err());
        assertEquals(MountHelper.MOUNT_FAILURE, help("pool0", "/proc", "-o", "ro,remount"));
        assertTrue(service.events.isEmpty(), service.events.toString());
    }

    @Test
    void whatTheMountTableSaysOfAMountIsNoOptionOfARemount() {
        var options = MountHelperOptions.of("ro,nosuid,remount,user_id=0,group_id=0,allow_other,max_read=1048576");
        assertTrue(options.isRemount());
        assertEquals("ro,nosuid,allow_other", options.forFileSystem());
        var mount = MountHelperOptions.of("ro,user_id=0");
        assertFalse(mount.isRemount());
        assertEquals("ro,user_id=0", mount.forFileSystem());
    }

    /**
     * Without a line in fstab, mount(8) takes the options that the mount has from its table, which tells user_id too.
     */
    @Test
    void whatIsAllowedOnARemountBeatsTheTableButNotFstab() {
        var table =
                MountHelperOptions.of("rw,nosuid,nodev,relatime,remount,allow_suid,user_id=0,group_id=0,allow_other");
        assertEquals("rw,nodev,relatime,allow_suid,allow_other", table.forFileSystem());
        var fstab = MountHelperOptions.of("rw,remount,nosuid,allow_suid");
        assertEquals("rw,nosuid,allow_suid", fstab.forFileSystem());
        var mount = MountHelperOptions.of("rw,nosuid,nodev,allow_suid,allow_dev");
        assertEquals("rw,nosuid,nodev,allow_suid,allow_dev", mount.forFileSystem());
    }

    @Test
    void anotherNamespaceIsRefusedWithAWayToDoIt() {
        assertEquals(MountHelper.MOUNT_FAILURE, help("pool0", mountPoint, "-N", "/proc/1/ns/mnt"));
        assertTrue(output.err().contains("nsenter --mount=/proc/1/ns/mnt"), output.err());
        // A descriptor of mount(8), which has ended when the message is read.
        assertEquals(MountHelper.MOUNT_FAILURE, help("pool0", mountPoint, "-N", "/proc/4711/fd/5"));
        assertTrue(output.err().contains("nsenter --mount=NAMESPACE mount -t sdfs pool0 "), output.err());
    }

    private int help(String... arguments) {
        return MountHelper.run(output.environment(), service, FakeDaemon.class, arguments);
    }

    private Optional<ProcessHandle> daemon() throws IOException {
        Path socket = output.environment().runFiles(definition).socket();
        return ControlSocket.ask(socket, "ping")
                .flatMap(state -> ProcessHandle.of(((Number) state.get("pid")).longValue()));
    }

    /**
     * Returns the words of a process's command line, separated by spaces. Java's own {@link ProcessHandle.Info} has no
     * arguments if the line is longer than a page, as the class path of a folder with a long name makes it.
     */
    private static String commandLineOf(ProcessHandle process) throws IOException {
        return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "cmdline"))
                .replace('\0', ' ');
    }

    @Test
    void leavesOutWhatOnlyConcernsTheMountHelper() {
        assertEquals("ro,noatime", MountHelperOptions.without("ro,user,noauto,x-systemd.automount,noatime,_netdev"));
        assertEquals("", MountHelperOptions.without(""));
    }
}
