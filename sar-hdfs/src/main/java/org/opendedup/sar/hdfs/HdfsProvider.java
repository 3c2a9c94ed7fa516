package org.opendedup.sar.hdfs;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreProvider;

/**
 * Opens stores for {@code hdfs://NAMENODE:PORT/FOLDER}, or {@code hdfs://NAMESERVICE/FOLDER} as Hadoop's own settings
 * define it: {@code core-site.xml} and {@code hdfs-site.xml} of the folder that the environment's
 * {@code HADOOP_CONF_DIR} names. The user is Hadoop's: of the process, {@code HADOOP_USER_NAME} or Kerberos.
 *
 * <p>The files are those of a folder (docs/FORMAT.md): the NameNode decides alone about a rename to a name that may be
 * taken, so put once and the versions of replaced objects are as safe as with links of a local file system.
 */
public final class HdfsProvider implements ObjectStoreProvider {
    /** Hadoop's client asks again by itself, for minutes; who asks here has patience of its own. */
    private static final int TRIES = 2;

    private static final List<String> SETTINGS = List.of("core-site.xml", "hdfs-site.xml");

    private static final int TIME_LIMIT_MS = 20_000;
    private static final int PAUSE_MS = 100;

    @Override
    public String scheme() {
        return "hdfs";
    }

    @Override
    public ObjectStore open(URI address) throws IOException {
        if (address.getAuthority() == null || address.getQuery() != null || address.getFragment() != null) {
            throw new IllegalArgumentException(
                    "no folder of HDFS: " + address + "; the form is hdfs://NAMENODE/FOLDER");
        }
        return new FolderObjectStore(HdfsDirectory.open(address, configuration()));
    }

    private static Configuration configuration() {
        Configuration configuration = new Configuration();
        String folder = System.getenv("HADOOP_CONF_DIR");
        if (folder != null) {
            SETTINGS.stream()
                    .map(file -> Paths.get(folder, file))
                    .filter(Files::exists)
                    .forEach(file -> configuration.addResource(new Path(file.toUri())));
        }
        configuration.setInt("ipc.client.connect.max.retries", TRIES);
        configuration.setInt("ipc.client.connect.max.retries.on.timeouts", TRIES);
        configuration.setInt("ipc.client.connect.timeout", TIME_LIMIT_MS);
        configuration.setInt("ipc.client.rpc-timeout.ms", TIME_LIMIT_MS);
        configuration.setInt("dfs.client.socket-timeout", TIME_LIMIT_MS);
        // Of a block that cannot be read; by default it takes 20 s until that is known.
        configuration.setInt("dfs.client.retry.window.base", PAUSE_MS);
        // Files hold bytes of many users: for their owner only, as on a local disk.
        configuration.set("fs.permissions.umask-mode", "077");
        return configuration;
    }
}
