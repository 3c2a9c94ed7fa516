package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.disks.Commands;

/** A server of S3 in a process of its own, which {@code scripts/s3-gateway --memory} starts. */
public final class S3Gateway implements AutoCloseable {
    private static final Pattern VARIABLE = Pattern.compile("export (\\w+)=(.*)");
    /** Exit code of the script where no server can be had. */
    private static final int NONE = 3;

    /** Names in the environment of programs, by the properties of a JVM that has no other environment. */
    private static final Map<String, String> NAMES = Map.of(
            "aws.accessKeyId", "AWS_ACCESS_KEY_ID",
            "aws.secretAccessKey", "AWS_SECRET_ACCESS_KEY",
            "aws.region", "AWS_REGION");

    private final Map<String, String> variables = new HashMap<>();
    private final ProcessHandle process;

    /** Starts one; the test is skipped where none can be had. {@code folder} is for its log. */
    public S3Gateway(Path folder) throws IOException {
        String script = Commands.projectFolder().resolve("scripts/s3-gateway").toString();
        String own = "--with=" + ProcessHandle.current().pid();
        Commands.Result result = Commands.run(Map.of(), List.of(script, "--memory", own, folder.toString()));
        assumeTrue(result.exitCode() != NONE, result::output);
        assertEquals(0, result.exitCode(), result::output);
        // A question mark is written with a backslash before it.
        for (String line : result.output().replace("\\", "").lines().toList()) {
            Matcher variable = VARIABLE.matcher(line);
            if (variable.matches()) {
                variables.put(variable.group(1), variable.group(2));
            }
        }
        process = ProcessHandle.of(Long.parseLong(variables.get("S3_GATEWAY_PID")))
                .orElseThrow();
        NAMES.forEach((property, name) -> System.setProperty(property, variables.get(name)));
    }

    /** The address below a prefix of its bucket. */
    public String address(String prefix) {
        return variables.get("S3_GATEWAY").replace("?", "/" + prefix + "?");
    }

    /** Returns what programs need in their environment to use the server that runs; nothing if there is none. */
    public static Map<String, String> variables() {
        Map<String, String> present = new HashMap<>();
        NAMES.forEach((property, name) -> {
            String value = System.getProperty(property);
            if (value != null) {
                present.put(name, value);
            }
        });
        return present;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        NAMES.keySet().forEach(System::clearProperty);
    }
}
