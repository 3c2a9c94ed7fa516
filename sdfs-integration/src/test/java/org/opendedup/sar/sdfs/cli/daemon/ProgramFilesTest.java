package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another version of the program is installed while a daemon runs. */
@Timeout(60)
class ProgramFilesTest {
    @TempDir
    Path folder;

    /** A daemon that needs a class of the last jar of its class path only after the installation. */
    public static final class Daemon {
        public static void main(String[] arguments) throws IOException {
            if (arguments[0].equals("held")) {
                ProgramFiles.hold();
            }
            System.out.println("mounted");
            var unused = System.in.read();
            try {
                System.out.println(Class.forName("Late").getField("VERSION").get(null));
            } catch (ReflectiveOperationException e) {
                System.out.println("mixed");
            }
        }
    }

    @Test
    void goesOnWithTheFilesItBeganWith() throws IOException {
        assertEquals("old", versionAfterInstalling("new", "held"));
        assertEquals("old", versionAfterInstalling("", "held"));
    }

    @Test
    void controlWithoutThatTheVersionsAreMixed() throws IOException {
        assertEquals("new", versionAfterInstalling("new", "not held"));
        assertEquals("mixed", versionAfterInstalling("", "not held"));
    }

    private String versionAfterInstalling(String version, String held) throws IOException {
        Path jar = jar("old");
        Process daemon = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xshare:auto",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path") + File.pathSeparator + jar,
                        Daemon.class.getName(),
                        held)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = daemon.inputReader(StandardCharsets.UTF_8)) {
            assertEquals("mounted", said.readLine());
            if (version.isEmpty()) {
                Files.delete(jar);
            } else {
                Files.move(jar(version), jar, StandardCopyOption.REPLACE_EXISTING);
            }
            daemon.getOutputStream().write('\n');
            daemon.getOutputStream().flush();
            return said.readLine();
        } finally {
            daemon.destroyForcibly();
        }
    }

    /** Makes a jar with a class that tells a version. */
    private Path jar(String version) throws IOException {
        Path source = folder.resolve("Late.java");
        Files.writeString(source, "public class Late { public static final String VERSION = \"" + version + "\"; }");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()));
        Path jar = folder.resolve(version + ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry("Late.class"));
            out.write(Files.readAllBytes(folder.resolve("Late.class")));
        }
        return jar;
    }
}
