package org.opendedup.sar.sdfs.wear;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;

/**
 * How worn devices are, as they say themselves: by smartctl (package smartmontools), which also asks devices below a
 * RAID controller that the kernel shows as one, and for eMMC by the kernel.
 */
final class DeviceWear {
    /**
     * Names of the attributes by which SATA devices tell how much of their endurance is left, in percent; the best
     * first. Later versions of smartctl know this better and say it as {@code endurance_used}.
     */
    private static final List<String> LEFT_ATTRIBUTES = List.of(
            "Percent_Lifetime_Remain",
            "SSD_Life_Left",
            "Media_Wearout_Indicator",
            "Remaining_Lifetime_Perc",
            "Wear_Leveling_Count");

    private static final double PERCENT = 100;
    private static final int HEX = 16;
    private static final int EMMC_STEPS = 10;

    private final ObjectMapper mapper = new ObjectMapper();
    private final Asker asker;

    /** Asks a device. */
    @FunctionalInterface
    interface Asker {
        /**
         * Returns what smartctl says about a device, as JSON.
         *
         * @param device its name in {@code /dev}
         * @throws IOException if it cannot be asked; the message says why
         */
        String ask(String device) throws IOException;
    }

    /**
     * The wear of a device.
     *
     * @param used share of its endurance that is used; null if unknown
     * @param unknown why it is unknown; empty if it is known
     */
    record Wear(@Nullable Double used, String unknown) {}

    DeviceWear() {
        this(new Smartctl()::ask);
    }

    DeviceWear(Asker asker) {
        this.asker = asker;
    }

    /** @param devices names in {@code /dev}; the wear is that of the most worn one, and all must be known */
    Wear of(List<String> devices) {
        if (devices.isEmpty()) {
            return new Wear(null, "the kernel names no device below the location");
        }
        double most = 0;
        for (String device : devices) {
            try {
                OptionalDouble used = ofOne(device);
                if (used.isEmpty()) {
                    return new Wear(null, device + " does not tell it");
                }
                most = Math.max(most, used.getAsDouble());
            } catch (IOException e) {
                return new Wear(null, String.valueOf(e.getMessage()));
            }
        }
        return new Wear(most, "");
    }

    private OptionalDouble ofOne(String device) throws IOException {
        Path lifetime = Path.of("/sys/block", device, "device/life_time");
        return Files.exists(lifetime) ? ofEmmc(Files.readString(lifetime)) : ofSmart(asker.ask(device));
    }

    /** Decodes the estimates of an eMMC device: two hexadecimal numbers, each of tenths of its life, rounded up. */
    static OptionalDouble ofEmmc(String lifetime) {
        double most = 0;
        for (String estimate : lifetime.strip().split("\\s+")) {
            int tenths = Integer.parseInt(estimate.replace("0x", ""), HEX);
            most = Math.max(most, tenths);
        }
        return most == 0 ? OptionalDouble.empty() : OptionalDouble.of(most / EMMC_STEPS);
    }

    private OptionalDouble ofSmart(String json) throws IOException {
        JsonNode report = mapper.readTree(json);
        for (String path :
                List.of("/endurance_used/current_percent", "/nvme_smart_health_information_log/percentage_used")) {
            JsonNode used = report.at(path);
            if (used.isNumber()) {
                return OptionalDouble.of(used.asDouble() / PERCENT);
            }
        }
        JsonNode attributes = report.at("/ata_smart_attributes/table");
        for (String name : LEFT_ATTRIBUTES) {
            for (JsonNode attribute : attributes) {
                if (attribute.path("name").asText().equals(name)
                        && attribute.path("value").isNumber()) {
                    return OptionalDouble.of(1 - attribute.path("value").asDouble() / PERCENT);
                }
            }
        }
        JsonNode refusal = report.at("/smartctl/messages/0/string");
        if (refusal.isTextual()) {
            String said = Printable.line(refusal.asText());
            // Root may open devices, unless a unit of systemd or a container forbids them.
            String remedy = said.contains("Operation not permitted")
                    ? "; allow the device to the unit, as docs/operations/monitoring.md says"
                    : "";
            throw new IOException("smartctl says: " + said + remedy);
        }
        return OptionalDouble.empty();
    }
}
