package org.opendedup.sar.container;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Container files of volumes that were written when a file lay in the folder of its id's low byte: they are given the names that
 * {@link ContainerFormat#fileName} gives now. Each is renamed at once or not at all, so a crash leaves the rest for the next time.
 */
final class EarlierNames {
    private static final Logger log = LoggerFactory.getLogger(EarlierNames.class);
    private static final Pattern EARLIER =
            Pattern.compile("([0-9a-f]{2})/([0-9a-f]{10}\\1)(\\.container|\\.open|\\.recovery)");

    private EarlierNames() {}

    /** Renames the files among {@code names} that bear such a name. */
    static void replace(Directory directory, List<String> names) throws IOException {
        int renamed = 0;
        for (String name : names) {
            Matcher earlier = EARLIER.matcher(name);
            if (earlier.matches()) {
                directory.rename(
                        name, ContainerFormat.fileName(Long.parseLong(earlier.group(2), 16), earlier.group(3)));
                renamed++;
            }
        }
        if (renamed > 0) {
            directory.sync();
            log.info("{} container files in {} have new names: consecutive ones lie in one folder", renamed, directory);
        }
    }
}
