package org.opendedup.sar;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs test classes one after the other in this JVM, for {@code scripts/test}. Each line of the standard input is
 * {@code CLASS<tab>METHOD<tab>LOG}: an empty method means all, and what the class prints goes to the file. For each
 * test it answers with a line {@code passed}, {@code failed} or {@code skipped}, a tab, the test's name, a tab and the
 * reason, and after the class with {@code end}; before the first one with {@code ready}. Ends with the standard input.
 *
 * <p>Its arguments are tags: tests that have one of them do not run.
 */
public final class TestWorker implements TestExecutionListener {
    /** Threads end within this time after their volume is closed. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(Integer.getInteger("sar.patience.s", 10));

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Threads that a JVM keeps for all that runs in it, the last ones those of Hadoop's client. */
    private static final Pattern SHARED = Pattern.compile(
            "ForkJoinPool\\.commonPool|CompletableFutureDelay|junit-|jnr\\.|process reaper|RMI|JMX|Timer"
                    + "|org\\.apache\\.hadoop|LeaseRenewer|IPC ");

    private final PrintStream answers;

    private TestWorker(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = System.out;
        Launcher launcher = LauncherFactory.create();
        answers.println("ready");
        answers.flush();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", -1);
            Properties before = (Properties) System.getProperties().clone();
            try (var log = new PrintStream(fields[2], StandardCharsets.UTF_8)) {
                System.setOut(log);
                System.setErr(log);
                var worker = new TestWorker(answers);
                Set<Thread> threads = threads();
                launcher.execute(request(fields[0], fields[1]), worker);
                worker.failForThreadsBeside(threads);
                answers.println("end");
                answers.flush();
            } finally {
                System.setProperties(before);
            }
        }
        // Threads that a test left, and a thread that waits for a mount of this process, must not keep it alive.
        Runtime.getRuntime().halt(0);
    }

    /** Fails the class for a thread that it left, of an open volume for example: it would log in later classes. */
    private void failForThreadsBeside(Set<Thread> before) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        Set<Thread> left = threads();
        left.removeAll(before);
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PAUSE_NANOS);
            left.retainAll(threads());
        }
        if (!left.isEmpty()) {
            answers.println(
                    "failed\t\tleft " + left.stream().map(Thread::getName).toList());
            answers.flush();
        }
    }

    /** The threads of tests and product; the JDK's own are in other groups, or serve everybody. */
    private static Set<Thread> threads() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !group.equals(thread.getThreadGroup())
                || SHARED.matcher(thread.getName()).lookingAt());
        return threads;
    }

    private static LauncherDiscoveryRequest request(String name, String method) {
        var builder = LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectClass(name));
        if (!method.isEmpty()) {
            builder.filters((PostDiscoveryFilter) descriptor -> FilterResult.includedIf(descriptor
                    .getSource()
                    .filter(MethodSource.class::isInstance)
                    .map(source -> ((MethodSource) source).getMethodName().equals(method))
                    .orElse(true)));
        }
        return builder.build();
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        answer("skipped", test, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        Optional<Throwable> cause = result.getThrowable();
        cause.ifPresent(Throwable::printStackTrace);
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    answer("passed", test, "");
                }
            }
            case ABORTED ->
                answer("skipped", test, cause.map(Throwable::getMessage).orElse(""));
            case FAILED -> answer("failed", test, cause.map(Throwable::toString).orElse(""));
        }
    }

    /**
     * Names a test by its method, also one of a container: an invocation of a parameterized test has its display name.
     */
    private void answer(String outcome, TestIdentifier test, String reason) {
        String name = test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName())
                .orElse("");
        String shown = test.getDisplayName().startsWith(name + "(") ? "" : " " + test.getDisplayName();
        answers.println(outcome + "\t" + oneLine(name + (name.isEmpty() ? test.getDisplayName() : shown)) + "\t"
                + oneLine(reason));
        answers.flush();
    }

    private static String oneLine(String text) {
        return text.lines().findFirst().orElse("").replace('\t', ' ');
    }
}
