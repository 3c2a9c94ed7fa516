package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** What {@code scripts/install} makes, replaces and removes. */
class InstallTest {
    private static final Path SCRIPT = Commands.projectFolder().resolve("scripts/install");

    private Installation installation;
    private Path other;

    @BeforeEach
    void makeNamespace(@TempDir Path folder, @TempDir Path other) throws IOException {
        installation = Installation.in(folder.toRealPath());
        this.other = other;
    }

    @AfterEach
    void end() throws IOException {
        if (installation != null) {
            installation.close();
        }
    }

    @Test
    void theJvmsOfAnInstallationKeepWhatTheyLearnedInATrialMount() throws IOException {
        installation.succeed(SCRIPT, "--prefix=" + installation.prefix());
        assertEquals(2, archives());
        Commands.Result found = installation.run("grep", "-rlF", SCRIPT.getParent(), installation.folder() + "/bin");
        assertEquals(1, found.exitCode(), () -> "these know where they were built: " + found.output());
        for (Path link : Installation.HELPER_LINKS) {
            String target = installation.succeed("readlink", "-f", link);
            assertTrue(target.startsWith(installation.folder().toString()), target);
        }
        // With changed jars, or a JVM of another release, the archives are of no use; nothing is said about that.
        Commands.succeed("bash", "-c", "touch " + installation.folder() + "/jars/*");
        assertEquals(
                "", installation.succeed("bash", "-c", installation.prefix() + "/bin/sdfscli --list 2>&1 >/dev/null"));
        // The control, and over itself it installs.
        installation.succeed(SCRIPT, "--prefix=" + installation.prefix(), "--no-rehearsal");
        assertEquals(0, archives());
    }

    @Test
    void updatedbLeavesVolumesOut() throws IOException {
        Path settings = other.resolve("updatedb.conf");
        String made = "PRUNE_BIND_MOUNTS=\"yes\"\nPRUNEFS=\"NFS fuse.sshfs\"\n";
        Files.writeString(settings, made);
        String function = Commands.succeed("sed", "-n", "/^leave_out_of_updatedb()/,/^}/p", SCRIPT);
        for (int time = 0; time < 2; time++) {
            Commands.succeed("bash", "-c", function + "leave_out_of_updatedb \"$0\" true", settings);
            assertEquals(made.replace("sshfs\"", "sshfs fuse.sdfs\""), Files.readString(settings));
        }
        Commands.succeed("bash", "-c", function + "leave_out_of_updatedb \"$0\" false", settings);
        assertEquals(made, Files.readString(settings));
    }

    private long archives() throws IOException {
        return Commands.succeed("ls", installation.folder())
                .lines()
                .filter(name -> name.matches("(commands|daemon)\\.(jsa|aot)"))
                .count();
    }

    @Test
    void theLinksGoWithTheInstallationAndNothingOfOthersIsReplaced() throws IOException {
        installation.succeed(SCRIPT, "--prefix=" + installation.prefix(), "--no-rehearsal");
        Path foreign = Files.createDirectories(other.resolve("bin")).resolve("sdfscli");
        Files.writeString(foreign, "not ours");
        assertRefused(foreign.toString());
        assertEquals("not ours", Files.readString(foreign));
        assertFalse(Files.exists(other.resolve("lib")));
        Files.delete(foreign);
        assertRefused("/sbin/mount.sdfs is there already");

        Commands.succeed("chmod", "777", other);
        assertRefused("other users may write in " + other);
        Commands.succeed("chmod", "755", other);
        Commands.succeed("chown", "nobody", other);
        assertRefused(other + " belongs to another user, nobody");
        assertFalse(Files.exists(other.resolve("lib")));
        Path prefix = other.resolve("prefix");
        // As a user, if the user can read the project.
        Commands.Result installed = installation.asNobody(SCRIPT, "--prefix=" + prefix, "--no-rehearsal");
        assumeFalse(installed.output().contains("Permission denied"), "needs a project folder that others may read");
        assertEquals(0, installed.exitCode(), installed::output);
        assertTrue(Files.isExecutable(prefix.resolve("bin/sdfscli")));
        Path page = prefix.resolve("share/man/man8/sdfscli.8");
        assertTrue(Files.isReadable(page));
        Commands.Result removed = installation.asNobody(SCRIPT, "--prefix=" + prefix, "--uninstall");
        assertEquals(0, removed.exitCode(), removed::output);
        assertFalse(Files.exists(prefix.resolve("bin/sdfscli"), LinkOption.NOFOLLOW_LINKS));
        assertFalse(Files.exists(prefix.resolve("lib/sdfs")));
        assertFalse(Files.exists(page, LinkOption.NOFOLLOW_LINKS));
        // The control: the other installation's links still exist.
        for (Path link : Installation.HELPER_LINKS) {
            installation.succeed("test", "-e", link);
        }
        installation.succeed(SCRIPT, "--prefix=" + installation.prefix(), "--uninstall");
        for (Path link : Installation.HELPER_LINKS) {
            installation.succeed("test", "!", "-e", link);
        }
    }

    private void assertRefused(String message) throws IOException {
        Commands.Result refused = installation.run(SCRIPT, "--prefix=" + other, "--no-rehearsal");
        assertEquals(1, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains(message), refused::output);
    }
}
