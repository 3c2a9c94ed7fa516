package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** {@code find_java} of {@code scripts/java.bash}: which Java runs the commands, of a clone and of an installation. */
final class FindJavaTest {
    @TempDir
    private Path folder;

    private Path ofPath;

    @BeforeEach
    void aPathHasARelease17() throws IOException {
        ofPath = make("path", "17.0.15");
    }

    @Test
    void theNewestThatKeepsWhatItLearnedGoesBeforeThatOfThePath() throws IOException {
        make("jdks/b", "21.0.1");
        assertEquals(ofPath.toString(), found(""), "21 keeps classes only, as 17 does");
        make("jdks/c", "25.0.1");
        Path newest = make("jdks/d", "26");
        make("jdks/e", "25");
        assertEquals(newest.toString(), found(""));
    }

    @Test
    void whatTheUserChoseGoesFirstThenWhatTheInstallationChose() throws IOException {
        make("jdks/a", "26");
        Path chosen = make("chosen", "25.0.2");
        Files.createSymbolicLink(folder.resolve("java"), chosen);
        assertEquals(chosen.toRealPath().toString(), found(""));
        Path own = make("own", "17");
        assertEquals(own.toString(), found(own.getParent().getParent().toString()));
    }

    /** Makes a JDK as its release file describes it; returns its program. */
    private Path make(String name, String version) throws IOException {
        Path home = folder.resolve(name);
        Path bin = Files.createDirectories(home.resolve("bin"));
        Files.writeString(
                home.resolve("release"), "IMPLEMENTOR=\"A\"\nJAVA_VERSION=\"" + version + "\"\nOS=\"Linux\"\n");
        return Files.createFile(
                bin.resolve("java"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    /** Runs the function as a command does that lies in the folder's {@code bin}. */
    private String found(String javaHome) throws IOException {
        Path script = Commands.projectFolder().resolve("scripts/java.bash");
        String call = "source \"$0\"; commands=\"$1/bin\"; jdks=\"$1/jdks\"; mkdir -p \"$commands\"; "
                + "PATH=\"$1/path/bin:$PATH\"; find_java";
        Map<String, String> environment = Map.of("JAVA_HOME", javaHome);
        Commands.Result result =
                Commands.run(environment, List.of("bash", "-c", call, script.toString(), folder.toString()));
        assertEquals(0, result.exitCode(), result::output);
        return result.output().strip();
    }
}
