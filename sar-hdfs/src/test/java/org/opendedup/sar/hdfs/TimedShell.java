package org.opendedup.sar.hdfs;

import java.io.FileOutputStream;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs {@code hdfs dfs} and prints the nanoseconds that it took, without the start of the JVM and of the client; what
 * it prints itself goes to nobody. For scripts/bench scale.
 */
final class TimedShell {
    private TimedShell() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(new PrintStream(new FileOutputStream("/dev/null")));
        Configuration configuration = new Configuration();
        int failed = ToolRunner.run(configuration, new FsShell(), new String[] {"-ls", "/"});
        long begin = System.nanoTime();
        failed |= ToolRunner.run(configuration, new FsShell(), arguments);
        out.println(System.nanoTime() - begin);
        System.exit(failed);
    }
}
