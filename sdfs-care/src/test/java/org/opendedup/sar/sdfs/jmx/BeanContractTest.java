package org.opendedup.sar.sdfs.jmx;

import static org.junit.jupiter.api.Assertions.assertIterableEquals;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.Descriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanNotificationInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.restore.frame.ReadLatencies;
import org.opendedup.sar.sdfs.check.VolumeChecks;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.collect.GarbageCollections;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeOptions;
import org.opendedup.sar.sdfs.heal.FakeHeal;
import org.opendedup.sar.sdfs.heal.Heals;
import org.opendedup.sar.sdfs.health.Facts;
import org.opendedup.sar.sdfs.health.HealthRules;
import org.opendedup.sar.sdfs.health.HealthWatch;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.join.FakeJoin;
import org.opendedup.sar.sdfs.join.Joins;
import org.opendedup.sar.sdfs.scrub.FakeScrub;
import org.opendedup.sar.sdfs.scrub.Scrubs;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.DamageReport;

/**
 * Holds what a volume shows in JMX against {@code beans.txt}: names, types, descriptions, units, limits, operations and
 * notifications. Consoles and scripts of users depend on them.
 */
class BeanContractTest {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    @Test
    void allBeansAreAsTheContractSays() throws Exception {
        Clock clock = Clock.systemUTC();
        var definition = Definitions.withSsd("contract", Path.of("/srv/pool0"));
        var ssd = new FakeSar(Path.of("/srv/pool0/ssd"), definition.sar().hot());
        var health = new HealthWatch<>(new Facts()::facts, HealthRules::findings);
        try (var collections = new GarbageCollections(
                        "contract", new FakeCollector(), null, FakeCollector.recompress(), () -> {}, clock);
                var scrubs = new Scrubs("contract", new FakeScrub(), clock);
                var joins = new Joins("contract", new FakeJoin(), clock);
                var heals = new Heals("contract", new FakeHeal(), clock);
                var checks = new VolumeChecks("contract", progress -> new StoredVolume.Report(7, List.of()), clock);
                var lists = new AttendedJobs<DamageReport>("contract", "list of damage");
                var chunks = VolumeRegistration.register(
                        "contract-chunks",
                        beans -> beans.chunkVolume(
                                () -> null, () -> true, health, digits -> new ChunkSearch.Found(List.of(), false)));
                var registration = VolumeRegistration.register("contract", beans -> {
                    beans.volume(
                            () -> null,
                            () -> true,
                            () -> true,
                            health,
                            digits -> new ChunkSearch.Found(List.of(), false));
                    beans.settings(VolumeOptions.ALL, definition.values());
                    beans.sar(new SarAdministration("contract", ssd, definition.sar(), kept -> {}, location -> {}));
                    var fastTier = new FakeFastTier();
                    beans.fastTier(fastTier::figures, fastTier);
                    beans.objectStore(() -> null);
                    beans.files(new FakeFiles());
                    beans.readLatencies(new ReadLatencies()::counts);
                    beans.collections(collections, StartTimes.NEVER);
                    beans.scrubs(scrubs, StartTimes.NEVER);
                    beans.heals(heals, List::of);
                    beans.joins(joins);
                    beans.checks(checks);
                    beans.backups(null, null, null);
                    beans.damagedFiles(lists, job -> null);
                    beans.jobs(List.of(scrubs, lists));
                    beans.parameters();
                    beans.history(clock);
                })) {
            assertIterableEquals(contract().lines().toList(), beans().lines().toList());
        }
    }

    private static String contract() throws IOException {
        try (var file = Objects.requireNonNull(BeanContractTest.class.getResourceAsStream("beans.txt"))) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String beans() throws Exception {
        var text = new StringBuilder();
        for (ObjectName name : Stream.of("contract", "contract-chunks")
                .flatMap(volume -> SERVER.queryNames(pattern(volume), null).stream())
                .sorted()
                .toList()) {
            MBeanInfo info = SERVER.getMBeanInfo(name);
            text.append(name).append(": ").append(info.getDescription()).append('\n');
            sorted(info.getAttributes()).forEach(attribute -> text.append(line((MBeanAttributeInfo) attribute)));
            sorted(info.getOperations()).forEach(operation -> text.append(lines((MBeanOperationInfo) operation)));
            for (MBeanNotificationInfo notification : info.getNotifications()) {
                text.append("  sends " + String.join(", ", notification.getNotifTypes()) + ": "
                        + notification.getDescription() + "\n");
            }
        }
        return text.toString();
    }

    private static ObjectName pattern(String volume) {
        try {
            return new ObjectName("org.opendedup.sar:volume=" + volume + ",*");
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static List<MBeanFeatureInfo> sorted(MBeanFeatureInfo[] features) {
        return Arrays.stream(features)
                .sorted(Comparator.comparing(MBeanFeatureInfo::getName))
                .toList();
    }

    private static String line(MBeanAttributeInfo attribute) {
        return "  " + attribute.getType() + " " + (attribute.isIs() ? "is" : "") + attribute.getName()
                + (attribute.isWritable() ? " = " : "") + ": " + attribute.getDescription()
                + fields(attribute.getDescriptor()) + "\n";
    }

    private static String lines(MBeanOperationInfo operation) {
        return "  " + operation.getReturnType() + " " + operation.getName() + "()" + operation.getImpact() + ": "
                + operation.getDescription() + fields(operation.getDescriptor()) + "\n"
                + Arrays.stream(operation.getSignature())
                        .map(parameter -> "    " + parameter.getType() + " " + parameter.getName() + ": "
                                + parameter.getDescription() + fields(parameter.getDescriptor()) + "\n")
                        .collect(Collectors.joining());
    }

    private static String fields(Descriptor descriptor) {
        return Stream.of("units", "minValue", "maxValue", "legalValues", "effect")
                .filter(field -> descriptor.getFieldValue(field) != null)
                .map(field -> " " + field + "=" + value(descriptor.getFieldValue(field)))
                .collect(Collectors.joining());
    }

    private static Object value(Object value) {
        return value instanceof Object[] values
                ? List.of(values)
                : value instanceof Collection<?> all ? all.stream().sorted().toList() : value;
    }
}
